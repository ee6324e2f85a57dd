// The transactions table, as Kysely types, and the types of its columns for inserting many rows as one JSON text.
import type { ColumnType } from 'kysely';
import type { components } from '../../generated/types.ts';

type Schemas = components['schemas'];
type Transaction = Schemas['Transaction'];
type Stamp = ColumnType<Date, string, string>;
type Json<T> = ColumnType<T, string, string>;

export interface TransactionsTable {
  id: string;
  merchant_account_id: string;
  created_at: Stamp;
  updated_at: Stamp;
  status: Transaction['status'];
  intent: Transaction['intent'];
  amount: number;
  authorized_amount: number;
  captured_amount: number;
  refunded_amount: number;
  currency: string;
  country: string | null;
  method: Transaction['method'];
  instrument_type: Transaction['instrument_type'];
  external_identifier: string | null;
  reconciliation_id: string | null;
  checkout_session_id: string | null;
  raw_response_code: string | null;
  raw_response_description: string | null;
  pending_review: boolean;
  settled: boolean;
  settled_amount: number;
  settled_currency: string | null;
  buyer: Json<Transaction['buyer']>;
  payment_method: Json<Transaction['payment_method']>;
  payment_service: Json<Transaction['payment_service']>;
  gift_card_redemptions: Json<Transaction['gift_card_redemptions']>;
  metadata: Json<Record<string, string>>;
  payment_source: Schemas['PaymentSource'] | null;
  merchant_initiated: boolean;
  is_subsequent_payment: boolean;
  payment_service_transaction_id: string | null;
  // What filters look for in the snapshots and amounts.
  buyer_id: string | null;
  buyer_external_identifier: string | null;
  payment_method_id: string | null;
  payment_method_label: string | null;
  payment_method_bin: string | null;
  payment_service_id: string | null;
  gift_card_ids: string[] | null;
  gift_card_last4s: string[] | null;
  has_gift_card_redemptions: boolean;
  has_refunds: boolean;
  has_settlements: boolean;
}

export const columnTypes: Readonly<Record<keyof TransactionsTable, string>> = {
  id: 'uuid',
  merchant_account_id: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  status: 'text',
  intent: 'text',
  amount: 'bigint',
  authorized_amount: 'bigint',
  captured_amount: 'bigint',
  refunded_amount: 'bigint',
  currency: 'text',
  country: 'text',
  method: 'text',
  instrument_type: 'text',
  external_identifier: 'text',
  reconciliation_id: 'text',
  checkout_session_id: 'uuid',
  raw_response_code: 'text',
  raw_response_description: 'text',
  pending_review: 'boolean',
  settled: 'boolean',
  settled_amount: 'bigint',
  settled_currency: 'text',
  buyer: 'json',
  payment_method: 'json',
  payment_service: 'json',
  gift_card_redemptions: 'json',
  metadata: 'jsonb',
  payment_source: 'text',
  merchant_initiated: 'boolean',
  is_subsequent_payment: 'boolean',
  payment_service_transaction_id: 'text',
  buyer_id: 'uuid',
  buyer_external_identifier: 'text',
  payment_method_id: 'uuid',
  payment_method_label: 'text',
  payment_method_bin: 'text',
  payment_service_id: 'uuid',
  gift_card_ids: 'uuid[]',
  gift_card_last4s: 'text[]',
  has_gift_card_redemptions: 'boolean',
  has_refunds: 'boolean',
  has_settlements: 'boolean',
};
