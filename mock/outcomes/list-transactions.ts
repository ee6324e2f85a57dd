// Transactions: a list whose `metadata` filter must be JSON objects of strings, which JSON Schema cannot express.
import { canonicalFilter, readMetadataFilter } from '../../server/resources/transactions/metadata-filter.ts';
import { list } from './list.ts';
import type { ChooseOutcome } from './outcome.ts';
import { applyTransactionFilters } from './transaction-filters.ts';

export const listTransactions: ChooseOutcome = (request) => {
  const { faults } = readMetadataFilter((request.query.metadata ?? []) as string[]);
  return list(request, applyTransactionFilters, { faults, spell: canonicalFilter });
};
