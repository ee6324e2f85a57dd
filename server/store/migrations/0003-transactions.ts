import { sql, type Kysely } from 'kysely';

// Every filter has an index that ends with the sort order of the list, so that a page is one range of one index. The merchant
// account is the first column, so that the size of other accounts does not matter.
const newest = 'created_at desc, id desc';

// Index entries are limited to 2,704 bytes, but stored text is not. Filters have at most 200 characters.
const short = (column: string) => `left(${column}, 201)`;

const indexes: Record<string, string> = {
  newest: `(merchant_account_id, ${newest})`,
  // Only for the merchant account `*` without filters. The condition is always true, but PostgreSQL uses the index only for
  // queries that contain it. Otherwise the planner would also choose it for a large account and scan the rows of all others.
  newest_everywhere: `(${newest}) where length(merchant_account_id) > 0`,
  updated_at: `(merchant_account_id, updated_at)`,
  amount: `(merchant_account_id, amount, ${newest})`,
  status: `(merchant_account_id, status, ${newest})`,
  currency: `(merchant_account_id, currency, ${newest})`,
  has_settlements: `(merchant_account_id, ${newest}) where has_settlements`,
  has_no_settlements: `(merchant_account_id, ${newest}) where not has_settlements`,
  metadata: `using gin (metadata jsonb_path_ops)`,
  gift_card_ids: `using gin (gift_card_ids) where gift_card_ids is not null`,
  gift_card_last4s: `using gin (gift_card_last4s) where gift_card_last4s is not null`,
  ...Object.fromEntries(
    [
      'method',
      'payment_source',
      'payment_service_id',
      'payment_method_id',
      'buyer_id',
      'checkout_session_id',
    ].map((column) => [column, `(merchant_account_id, ${column}, ${newest}) where ${column} is not null`]),
  ),
  ...Object.fromEntries(
    [
      'external_identifier',
      'reconciliation_id',
      'payment_service_transaction_id',
      'buyer_external_identifier',
      'payment_method_label',
      'payment_method_bin',
    ].map((column) => [
      column,
      `(merchant_account_id, ${short(column)}, ${newest}) where ${column} is not null`,
    ]),
  ),
  // Only for `true`, which is rare. For `false`, a scan of `newest` fills a page after a few rows.
  ...Object.fromEntries(
    [
      'pending_review',
      'merchant_initiated',
      'is_subsequent_payment',
      'has_gift_card_redemptions',
      'has_refunds',
    ].map((column) => [column, `(merchant_account_id, ${newest}) where ${column}`]),
  ),
};

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table transactions (
      id uuid primary key,
      merchant_account_id text not null references merchant_accounts,
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null,
      status text not null,
      intent text not null,
      amount bigint not null,
      authorized_amount bigint not null,
      captured_amount bigint not null,
      refunded_amount bigint not null,
      currency text not null,
      country text,
      method text,
      instrument_type text,
      external_identifier text,
      reconciliation_id text,
      checkout_session_id uuid,
      raw_response_code text,
      raw_response_description text,
      pending_review boolean not null,
      settled boolean not null,
      settled_amount bigint not null,
      settled_currency text,
      -- Snapshots. json instead of jsonb, because they are returned unchanged and never queried.
      buyer json,
      payment_method json,
      payment_service json,
      gift_card_redemptions json not null,
      -- Only for filters; the API does not return these.
      metadata jsonb not null,
      payment_source text,
      merchant_initiated boolean not null,
      is_subsequent_payment boolean not null,
      payment_service_transaction_id text,
      -- Derived from the columns above, for filters.
      buyer_id uuid,
      buyer_external_identifier text,
      payment_method_id uuid,
      payment_method_label text,
      payment_method_bin text,
      payment_service_id uuid,
      gift_card_ids uuid[],
      gift_card_last4s text[],
      has_gift_card_redemptions boolean not null,
      has_refunds boolean not null,
      has_settlements boolean not null
    )`.execute(db);
  for (const [name, definition] of Object.entries(indexes)) {
    await sql.raw(`create index transactions_${name} on transactions ${definition}`).execute(db);
  }
}
