// The index by time gets the columns of the filters by list, range and flag, so that several of them are compared with its entries
// and not with the rows: see docs/decisions/0020-transaction-indexes.md.
import { sql } from 'kysely';
import { briefly, buildIndex, type Online } from '../online.ts';

const compared = [
  ...['amount', 'updated_at', 'status', 'currency', 'method', 'payment_source', 'payment_service_id'],
  ...['pending_review', 'merchant_initiated', 'is_subsequent_payment'],
  ...['has_gift_card_redemptions', 'has_refunds', 'has_settlements'],
];

export async function online(steps: Online): Promise<void> {
  await buildIndex(steps, {
    name: 'transactions_walk',
    table: 'transactions',
    on: `(merchant_account_id, created_at, id) include (${compared.join(', ')})`,
  });
  // PostgreSQL reads the row, too, if it is on a page that was not vacuumed since it was written.
  await briefly(steps, 'how often transactions are vacuumed', async (tx) => {
    await sql`alter table transactions set (autovacuum_vacuum_insert_scale_factor = 0.05)`.execute(tx);
  });
  const how = steps.isFresh ? '' : 'concurrently';
  await sql.raw(`drop index ${how} if exists transactions_by_time`).execute(steps.db);
}
