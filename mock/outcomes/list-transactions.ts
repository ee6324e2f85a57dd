// Transactions: a list whose `metadata` filter must be JSON objects of strings, which no schema can say.
import { readMetadataFilter } from '../../server/domain/metadata-filter.ts';
import { list } from './list.ts';
import type { Choose } from './outcome.ts';

export const listTransactions: Choose = (asked) => {
  readMetadataFilter((asked.query.metadata ?? []) as string[]);
  return list(asked);
};
