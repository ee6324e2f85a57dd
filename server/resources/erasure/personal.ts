// What becomes of every table and column when a buyer is erased, said once: `payments buyers erase` and its test follow it, and a
// column that somebody adds tomorrow does not compile until it is here. Erased are also parts of card numbers, and free text that
// may say anything. Kept is what the books need: amounts, states, times, references, and what many people share (scheme,
// issuer). See docs/guides/personal-data.md.
import type { Selectable } from 'kysely';
import type { components } from '../../../generated/types.ts';
import type { Tables } from '../../kit/database/tables.ts';
import type { BuyersTable } from '../buyers/table.ts';
import type { PaymentMethodsTable } from '../payment-methods/table.ts';
import type { NewTransaction } from '../transactions/table.ts';

type Schemas = components['schemas'];

/** `erased` becomes null. A function makes another value of it. */
type Fate<Value> =
  'kept' | (null extends Value ? 'erased' : never) | ((value: NonNullable<Value>) => NonNullable<Value>);
/** Decide for each property: `kept`, or `erased` if it may say something about the buyer. */
export type KeptOrErased<Record> = { readonly [Name in keyof Record]-?: Fate<Record[Name]> };

/** In the order of the record. A property without a fate is left out, because nobody knows what it says. */
const eraser =
  <Resource extends object>(fates: KeptOrErased<Resource>) =>
  (resource: Resource): Resource =>
    Object.fromEntries(
      (Object.keys(resource) as (keyof Resource)[]).flatMap((name) =>
        Object.hasOwn(fates, name) ? [[name, valueAfter(fates[name], resource[name])]] : [],
      ),
    ) as Resource;

function valueAfter<Value>(fate: Fate<Value>, value: Value): unknown {
  if (value === null || value === undefined || fate === 'kept') return value;
  return typeof fate === 'function' ? fate(value) : null;
}

const buyerFates = {
  id: 'kept',
  billing_details: 'erased',
  created_at: 'kept',
  display_name: 'erased',
  // Erased last: until then it leads to transactions.
  external_identifier: 'erased',
  merchant_account_id: 'kept',
  updated_at: 'kept',
  account_number: 'erased',
  erased_at: 'kept',
} as const satisfies KeptOrErased<Selectable<BuyersTable>>;

/** Also when the card alone is erased: `payments payment-methods erase`. */
const paymentMethodFates = {
  id: 'kept',
  country: 'kept',
  created_at: 'kept',
  currency: 'kept',
  expiration_date: 'erased',
  external_identifier: 'erased',
  has_replacement: () => false,
  // Of a wallet it is the e-mail address of its owner.
  label: 'erased',
  last_replaced_at: 'kept',
  merchant_account_id: 'kept',
  scheme: 'kept',
  // The state of a card that cannot be used, and whose number is not stored.
  status: () => 'failed',
  updated_at: 'kept',
  last_used_at: 'kept',
  usage_count: 'kept',
  cit_last_used_at: 'kept',
  cit_usage_count: 'kept',
  buyer_id: 'kept',
  bin: 'erased',
  card_type: 'kept',
  card_issuer_name: 'kept',
  number_sealed: 'erased',
  fingerprint: 'erased',
  redirect_url: 'erased',
  // A verifier may quote what it was given.
  verification_error: 'erased',
  replacement: 'erased',
  replacement_found_at: 'erased',
} as const satisfies KeptOrErased<Selectable<PaymentMethodsTable>>;

const eraseBuyer = eraser<Schemas['TransactionBuyer']>({
  type: 'kept',
  id: 'kept',
  billing_details: 'erased',
  display_name: 'erased',
  external_identifier: 'erased',
  account_number: 'erased',
});

export const eraseMethod = eraser<Schemas['TransactionPaymentMethod']>({
  type: 'kept',
  id: 'kept',
  approval_target: 'kept',
  // The page of a provider, perhaps with a token for it.
  approval_url: 'erased',
  country: 'kept',
  currency: 'kept',
  details: eraser<Schemas['CardDetails']>({ bin: 'erased', card_type: 'kept', card_issuer_name: 'kept' }),
  expiration_date: 'erased',
  external_identifier: 'erased',
  label: 'erased',
  last_replaced_at: 'kept',
  method: 'kept',
  scheme: 'kept',
  fingerprint: 'erased',
  payment_account_reference: 'erased',
});

const eraseRedemption = eraser<Schemas['GiftCardRedemption']>({
  type: 'kept',
  id: 'kept',
  status: 'kept',
  amount: 'kept',
  refunded_amount: 'kept',
  gift_card_service_redemption_id: 'kept',
  error_code: 'kept',
  raw_error_code: 'kept',
  raw_error_message: 'erased',
  gift_card: eraser<Schemas['RedeemedGiftCard']>({
    type: 'kept',
    id: 'kept',
    bin: 'erased',
    sub_bin: 'erased',
    last4: 'erased',
  }),
});

/** The columns for filters are worked out from these. */
const transactionFates = {
  type: 'kept',
  id: 'kept',
  amount: 'kept',
  authorized_amount: 'kept',
  captured_amount: 'kept',
  refunded_amount: 'kept',
  buyer: eraseBuyer,
  checkout_session_id: 'kept',
  country: 'kept',
  currency: 'kept',
  created_at: 'kept',
  updated_at: 'kept',
  // The merchant's books need the number of the order. `--references` erases it.
  external_identifier: 'kept',
  gift_card_redemptions: (all) => all.map(eraseRedemption),
  instrument_type: 'kept',
  intent: 'kept',
  merchant_account_id: 'kept',
  method: 'kept',
  payment_method: eraseMethod,
  payment_service: 'kept',
  pending_review: 'kept',
  raw_response_code: 'kept',
  raw_response_description: 'erased',
  reconciliation_id: 'kept',
  status: 'kept',
  settled: 'kept',
  settled_amount: 'kept',
  settled_currency: 'kept',
  // Free text of the merchant's, keys and values, so none is left.
  metadata: () => ({}),
  payment_source: 'kept',
  merchant_initiated: 'kept',
  is_subsequent_payment: 'kept',
  payment_service_transaction_id: 'kept',
} as const satisfies KeptOrErased<NewTransaction>;

export const eraseTransaction = eraser<NewTransaction>(transactionFates);

/** Rows of these that are about the buyer's records are deleted whole. */
type Deleted = 'events' | 'deliveries' | 'delivery_attempts';

/** Columns are erased of rows that name their buyer, or a record of it. */
type TableFate<Table extends keyof Tables, Row = Selectable<Tables[Table]>> = Table extends Deleted
  ? 'deleted'
  : Table extends 'transactions'
    ? KeptOrErased<NewTransaction>
    : | 'kept'
      | (Table extends 'buyers' ? KeptOrErased<Row> : never)
      | (Row extends { buyer_id: unknown } | { resource_id: unknown } ? KeptOrErased<Row> : never);

export const tableFates = {
  buyers: buyerFates,
  payment_methods: paymentMethodFates,
  transactions: transactionFates,
  events: 'deleted',
  deliveries: 'deleted',
  delivery_attempts: 'deleted',
  // The key stays, so that a request that is repeated is not carried out twice.
  idempotency_keys: {
    merchant_account_id: 'kept',
    slot: 'kept',
    fingerprint: 'kept',
    claim: 'kept',
    claimed_until: 'kept',
    answer_sealed: 'erased',
    resource_id: 'kept',
    created_at: 'kept',
  },
  // Keyed digests.
  card_numbers: 'kept',
  number_buckets: 'kept',
  // Bearer cards: no record says who has one. `payments gift-cards erase` deletes them.
  gift_cards: 'kept',
  // About merchants and operators.
  audit_entries: 'kept',
  settings: 'kept',
  merchant_accounts: 'kept',
  roles: 'kept',
  api_key_pairs: 'kept',
  api_key_pair_roles: 'kept',
  api_key_pair_merchant_accounts: 'kept',
  webhook_subscriptions: 'kept',
} as const satisfies { readonly [Table in keyof Tables]: TableFate<Table> };

/** What happens to each column of a table with columns that are erased. */
export type ColumnFates = Readonly<Record<string, 'kept' | 'erased' | (() => unknown)>>;

/** The columns that change, and what they become. Only for tables without snapshots. */
export const erasedValues = (fates: ColumnFates): [column: string, value: unknown][] =>
  Object.entries(fates).flatMap(([name, fate]) =>
    fate === 'kept' ? [] : [[name, typeof fate === 'function' ? fate() : null]],
  );

/** Tables with columns that are erased whose rows name their buyer. */
export const tablesOfBuyers = Object.entries<string | object>(tableFates).flatMap(([table, fates]) =>
  typeof fates === 'object' && 'buyer_id' in fates ? [[table, fates as ColumnFates] as const] : [],
);

/** The statistics of the planner hold samples of the values of these. */
export const tablesWithTraces = Object.entries(tableFates).flatMap(([table, fate]) =>
  fate === 'kept' ? [] : [table],
);

/** Properties of a transaction that an erasure may change. */
export const erasableProperties: readonly string[] = [
  ...Object.entries(transactionFates).flatMap(([name, fate]) => (fate === 'kept' ? [] : [name])),
  'external_identifier',
];
