// Transactions: a list whose `metadata` filter must be JSON objects of strings, which no schema can say.
import { readMetadataFilter } from '../../server/domain/metadata-filter.ts';
import { ApiError } from '../../server/errors.ts';
import { list } from './list.ts';
import type { Choose } from './outcome.ts';

export const listTransactions: Choose = (asked) => {
  const { faults } = readMetadataFilter((asked.query.metadata ?? []) as string[]);
  if (faults.length > 0) throw new ApiError('unprocessable', { detail: faults });
  return list(asked);
};
