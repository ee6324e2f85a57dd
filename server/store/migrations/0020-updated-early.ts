// For the filter updated_at_lte: see `createdRanges` in transaction-list.ts. Few rows have an entry, or none.
import { buildIndex, type Online } from '../online.ts';

export async function online(steps: Online): Promise<void> {
  await buildIndex(steps, {
    name: 'transactions_updated_early',
    table: 'transactions',
    on: '(merchant_account_id, created_at, id) where updated_at < created_at',
  });
}
