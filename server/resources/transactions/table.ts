// Transactions: every property of the resource is a column. The other columns exist for filters only; each is worked out here
// from what is stored, so that it cannot contradict the rest of the row.
import type { Selectable } from 'kysely';
import type { components } from '../../../generated/types.ts';
import {
  presentColumns,
  type Given,
  type Shown,
  type ShownColumns,
  type SqlType,
} from '../../kit/database/columns.ts';
import { readUuid } from '../../kit/rules/values.ts';

type Schemas = components['schemas'];
export type Transaction = Schemas['Transaction'];

/** The resource, of which null may be left out, and what the API does not show but filters by. */
export interface NewTransaction extends Given<Transaction> {
  metadata?: Record<string, string> | null | undefined;
  payment_source?: Schemas['PaymentSource'] | null | undefined;
  merchant_initiated?: boolean | null | undefined;
  is_subsequent_payment?: boolean | null | undefined;
  payment_service_transaction_id?: string | null | undefined;
}

/** Properties of the resource that are the same for all. */
export const transactionConstants = { type: 'transaction' } as const;

export const transactionColumns = {
  id: 'uuid',
  amount: 'bigint',
  authorized_amount: 'bigint',
  captured_amount: 'bigint',
  refunded_amount: 'bigint',
  buyer: 'json',
  checkout_session_id: 'uuid',
  country: 'text',
  currency: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  external_identifier: 'text',
  gift_card_redemptions: 'json',
  instrument_type: 'text',
  intent: 'text',
  merchant_account_id: 'text',
  method: 'text',
  payment_method: 'json',
  payment_service: 'json',
  pending_review: 'boolean',
  raw_response_code: 'text',
  raw_response_description: 'text',
  reconciliation_id: 'text',
  status: 'text',
  settled: 'boolean',
  settled_amount: 'bigint',
  settled_currency: 'text',
} as const satisfies Shown<Transaction, keyof typeof transactionConstants>;

interface FilterColumn<Value> {
  sql: SqlType;
  of: (transaction: NewTransaction) => Value;
}

const column = <Value>(sql: SqlType, of: (transaction: NewTransaction) => Value): FilterColumn<Value> => ({
  sql,
  of,
});

const giftCards = ({ gift_card_redemptions }: NewTransaction) =>
  gift_card_redemptions.flatMap(({ gift_card }) => gift_card ?? []);
const distinct = (values: string[]): string[] | null => (values.length > 0 ? [...new Set(values)] : null);

export const filterColumns = {
  metadata: column('jsonb', ({ metadata }): Record<string, string> => metadata ?? {}),
  payment_source: column('text', ({ payment_source }) => payment_source ?? null),
  merchant_initiated: column('boolean', ({ merchant_initiated }) => merchant_initiated ?? false),
  is_subsequent_payment: column('boolean', ({ is_subsequent_payment }) => is_subsequent_payment ?? false),
  payment_service_transaction_id: column('text', (given) => given.payment_service_transaction_id ?? null),
  buyer_id: column('uuid', ({ buyer }) => (buyer && readUuid(buyer.id)) ?? null),
  buyer_external_identifier: column('text', ({ buyer }) => buyer?.external_identifier ?? null),
  payment_method_id: column('uuid', ({ payment_method: card }) => (card && readUuid(card.id)) ?? null),
  payment_method_label: column('text', ({ payment_method }) => payment_method?.label ?? null),
  payment_method_bin: column('text', ({ payment_method }) => payment_method?.details.bin ?? null),
  payment_service_id: column(
    'uuid',
    ({ payment_service: service }) => (service && readUuid(service.id)) ?? null,
  ),
  gift_card_ids: column('uuid[]', (given) =>
    distinct(giftCards(given).flatMap(({ id }) => (id === null ? [] : (readUuid(id) ?? [])))),
  ),
  // The filter takes exactly four characters; longer ones would not fit in an index entry.
  gift_card_last4s: column('text[]', (given) =>
    distinct(
      giftCards(given).flatMap(({ last4 }) => (last4 !== null && /^[^]{4}$/u.test(last4) ? last4 : [])),
    ),
  ),
  has_gift_card_redemptions: column(
    'boolean',
    ({ gift_card_redemptions }) => gift_card_redemptions.length > 0,
  ),
  has_refunds: column(
    'boolean',
    (given) =>
      given.refunded_amount > 0 ||
      given.gift_card_redemptions.some(({ refunded_amount }) => refunded_amount > 0),
  ),
  has_settlements: column('boolean', ({ settled, settled_amount }) => settled || settled_amount > 0),
};

export type TransactionsTable = ShownColumns<typeof transactionColumns, Transaction> & {
  [Name in keyof typeof filterColumns]: ReturnType<(typeof filterColumns)[Name]['of']>;
};

declare module '../../kit/database/tables.ts' {
  interface Tables {
    transactions: TransactionsTable;
  }
}

const shown = presentColumns<Transaction>()(transactionColumns);

export const presentTransaction = (row: Selectable<TransactionsTable>): Transaction => ({
  ...transactionConstants,
  ...shown(row),
});
