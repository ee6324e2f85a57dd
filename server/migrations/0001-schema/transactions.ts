// The table with the most rows and filters. Which index serves which filter, and why they look like this:
// docs/decisions/0020-transaction-indexes.md.

const table = `create table transactions (
  id uuid not null unique,
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
  has_settlements boolean not null,
  primary key (merchant_account_id, id)
)`;

// Ascending, because new rows are the newest: PostgreSQL fills pages when it adds to their end, and leaves them half empty when
// it adds to their start. The list reads them backwards.
const byTime = '(merchant_account_id, created_at, id)';

const compared = [
  ...['amount', 'updated_at', 'status', 'currency', 'method', 'payment_source', 'payment_service_id'],
  ...['pending_review', 'merchant_initiated', 'is_subsequent_payment'],
  ...['has_gift_card_redemptions', 'has_refunds', 'has_settlements'],
];

// Filters by one value. Index entries are limited to 2,704 bytes, but stored text is not, so the entries are hashes.
const texts = [
  ...['status', 'currency', 'method', 'payment_source', 'external_identifier', 'reconciliation_id'],
  ...['payment_service_transaction_id', 'buyer_external_identifier'],
  ...['payment_method_label', 'payment_method_bin'],
];
const ids = ['payment_service_id', 'payment_method_id', 'buyer_id', 'checkout_session_id'];
const hashes: [column: string, hash: string][] = [
  ...texts.map((column): [string, string] => [column, `hashtext(${column})`]),
  ...ids.map((column): [string, string] => [column, `uuid_hash(${column})`]),
];

// Only for `true`, which is rare. For `false`, the index by time fills a page after a few rows.
const flags = [
  ...['pending_review', 'merchant_initiated', 'is_subsequent_payment'],
  ...['has_gift_card_redemptions', 'has_refunds'],
];

const indexes: Record<string, string> = {
  // The list, and filters by list, range and flag together: they are compared with entries of the index, not with the rows.
  walk: `${byTime} include (${compared.join(', ')})`,
  // The list of all accounts without filters. The condition is always true, but PostgreSQL uses the index only for queries that
  // contain it. Otherwise the planner would also choose it for a large account and scan the rows of all others.
  everywhere: '(created_at, id) where length(merchant_account_id) > 0',
  // updated_at_gte and updated_at_lte; the second for the few rows that were updated before they were created.
  by_update: '(merchant_account_id, updated_at)',
  updated_early: `${byTime} where updated_at < created_at`,
  // amount_eq, amount_gte, amount_lte
  by_amount: '(merchant_account_id, amount, created_at)',
  // metadata. GIN has no first column, so the account is part of the document.
  by_metadata: `using gin (jsonb_set('{}', array[merchant_account_id], metadata) jsonb_path_ops)`,
  // has_settlements. With the ID, because otherwise the planner prefers a scan by time for a flag that most rows have.
  by_settlements: `${byTime} where has_settlements`,
  by_no_settlements: `${byTime} where not has_settlements`,
  // gift_card_id and gift_card_last4: the elements, and for an account whose cards are used often the order of the list.
  gift_card_ids: 'using gin (gift_card_ids) where gift_card_ids is not null',
  gift_card_last4s: 'using gin (gift_card_last4s) where gift_card_last4s is not null',
  with_gift_card_ids: '(merchant_account_id, created_at) where gift_card_ids is not null',
  with_gift_card_last4s: '(merchant_account_id, created_at) where gift_card_last4s is not null',
  ...Object.fromEntries(
    flags.map((flag) => [`by_${flag}`, `(merchant_account_id, created_at) where ${flag}`]),
  ),
  // Without the ID at the end: rows of the same value and millisecond are few, and sorted when they are read.
  ...Object.fromEntries(
    hashes.map(([column, hash]) => [
      `by_${column}`,
      `(hashtext(merchant_account_id), ${hash}, created_at) where ${column} is not null`,
    ]),
  ),
};

// A statement compares both a value and its hash. These tell the planner that the one follows from the other.
const statistics: [column: string, hash: string][] = [
  ['merchant_account_id', 'hashtext(merchant_account_id)'],
  ...hashes,
];

export const transactions = [
  table,
  ...Object.entries(indexes).map(([name, on]) => `create index transactions_${name} on transactions ${on}`),
  ...statistics.map(
    ([column, hash]) =>
      `create statistics transactions_${column}_hash (dependencies) on ${column}, (${hash}) from transactions`,
  ),
  // PostgreSQL reads the row, too, if it is on a page that was not vacuumed since it was written.
  `alter table transactions set (autovacuum_vacuum_insert_scale_factor = 0.05)`,
];
