// Lighter indexes of transactions: see docs/decisions/0020-transaction-indexes.md. Those of 0003-transactions.ts are dropped
// when the new ones exist. An older version beside this one still works: its list without filters, by time, amount and flags
// uses the new indexes; its other filters scan the account.
import { sql } from 'kysely';
import { briefly, buildIndex, type Online } from '../online.ts';

const table = 'transactions';
// Ascending, because new rows are the newest: PostgreSQL fills pages when it adds to their end, and leaves them half empty when
// it adds to their start. The list reads them backwards.
const newest = '(merchant_account_id, created_at, id)';

const texts = [
  ...['status', 'currency', 'method', 'payment_source', 'external_identifier', 'reconciliation_id'],
  ...['payment_service_transaction_id', 'buyer_external_identifier'],
  ...['payment_method_label', 'payment_method_bin'],
];
const ids = ['payment_service_id', 'payment_method_id', 'buyer_id', 'checkout_session_id'];
const flags = [
  ...['pending_review', 'merchant_initiated', 'is_subsequent_payment'],
  ...['has_gift_card_redemptions', 'has_refunds'],
];
const hashes = {
  merchant_account_id: 'hashtext(merchant_account_id)',
  ...Object.fromEntries(texts.map((column) => [column, `hashtext(${column})`])),
  ...Object.fromEntries(ids.map((column) => [column, `uuid_hash(${column})`])),
};

// Without the ID at the end: rows of the same value and millisecond are few, and sorted when they are read.
const indexes: Record<string, string> = {
  by_time: newest,
  everywhere: '(created_at, id) where length(merchant_account_id) > 0',
  by_update: '(merchant_account_id, updated_at)',
  by_amount: '(merchant_account_id, amount, created_at)',
  by_metadata: `using gin (jsonb_set('{}', array[merchant_account_id], metadata) jsonb_path_ops)`,
  // With the ID, because otherwise the planner prefers a scan by time for a flag that most rows have.
  by_settlements: `${newest} where has_settlements`,
  by_no_settlements: `${newest} where not has_settlements`,
  // The indexes of 0003-transactions.ts over the elements do not contain the account. With these, nothing is read of an account
  // that uses no gift cards, and a card that is used often is found in the order of the list.
  ...Object.fromEntries(
    ['gift_card_ids', 'gift_card_last4s'].map((column) => [
      `with_${column}`,
      `(merchant_account_id, created_at) where ${column} is not null`,
    ]),
  ),
  ...Object.fromEntries(
    flags.map((flag) => [`by_${flag}`, `(merchant_account_id, created_at) where ${flag}`]),
  ),
  ...Object.fromEntries(
    [...texts, ...ids].map((column) => [
      `by_${column}`,
      `(${hashes.merchant_account_id}, ${hashes[column as keyof typeof hashes]}, created_at) where ${column} is not null`,
    ]),
  ),
};

/** Of 0003-transactions.ts. Those of gift cards stay. */
const replaced = [
  ...['newest', 'newest_everywhere', 'updated_at', 'amount', 'metadata'],
  ...['has_settlements', 'has_no_settlements'],
  ...[...flags, ...texts, ...ids],
];

export async function online(steps: Online): Promise<void> {
  for (const [name, on] of Object.entries(indexes))
    await buildIndex(steps, { name: `transactions_${name}`, table, on });
  // A statement compares both a value and its hash. These tell the planner that the one follows from the other.
  await briefly(steps, 'statistics of transactions', async (tx) => {
    for (const [column, hash] of Object.entries(hashes))
      await sql
        .raw(
          `create statistics if not exists transactions_${column}_hash (dependencies)
             on ${column}, (${hash}) from ${table}`,
        )
        .execute(tx);
  });
  await sql.raw(`analyze ${table}`).execute(steps.db);
  const how = steps.isFresh ? '' : 'concurrently';
  for (const name of replaced)
    await sql.raw(`drop index ${how} if exists transactions_${name}`).execute(steps.db);
}
