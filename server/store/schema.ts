// The tables, as Kysely types. Timestamps are Date inside; ISO strings are made where an answer is made.
import type { ColumnType, Generated } from 'kysely';
import type { TransactionsTable } from './transactions-table.ts';

type Stamp = ColumnType<Date, Date | string | undefined, Date | string>;

export interface MerchantAccountsTable {
  id: string;
  display_name: string;
  over_capture_amount: Generated<number>;
  over_capture_percentage: number | null;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface RolesTable {
  id: Generated<string>;
  slug: string;
  name: string;
  description: string | null;
  permissions: string[];
  assignable_to: Generated<string[]>;
  applies_to: Generated<string[]>;
  is_standalone_assignable: Generated<boolean>;
}

export interface ApiKeyPairsTable {
  id: Generated<string>;
  thumbprint: string;
  display_name: string;
  algorithm: 'ECDSA' | 'RSA';
  public_key: string;
  active: Generated<boolean>;
  creator_id: string | null;
  creator_name: string | null;
  creator_email_address: string | null;
  creator_thumbprint: string | null;
  created_at: Stamp;
  updated_at: Stamp;
  last_used_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
}

export interface BuyersTable {
  id: Generated<string>;
  merchant_account_id: string;
  external_identifier: string | null;
  display_name: string | null;
  account_number: string | null;
  billing_details: ColumnType<object | null, string | null, string | null>;
  created_at: Stamp;
  updated_at: Stamp;
}

type MaybeStamp = ColumnType<Date | null, Date | null | undefined, Date | null>;

/** What changes when a replacement applies; of a card whose number stays, only the date. */
export type Replacement = { expiration_date: string } & Partial<
  Pick<
    PaymentMethodsTable,
    'number_sealed' | 'bin' | 'label' | 'fingerprint' | 'scheme' | 'card_type' | 'card_issuer_name'
  >
>;

export interface PaymentMethodsTable {
  id: string;
  merchant_account_id: string;
  buyer_id: string | null;
  external_identifier: string | null;
  status: 'processing' | 'buyer_approval_required' | 'succeeded' | 'failed';
  scheme: string | null;
  country: Generated<string | null>;
  currency: Generated<string | null>;
  bin: string | null;
  card_type: string | null;
  card_issuer_name: string | null;
  expiration_date: string | null;
  label: string | null;
  fingerprint: string | null;
  /** Sealed by the vault; null when the card could not be used. */
  number_sealed: string | null;
  redirect_url: string | null;
  has_replacement: Generated<boolean>;
  /** Details that wait to apply. */
  replacement: ColumnType<Replacement | null, string | null | undefined, string | null>;
  last_replaced_at: MaybeStamp;
  last_used_at: MaybeStamp;
  usage_count: Generated<number>;
  cit_last_used_at: MaybeStamp;
  cit_usage_count: Generated<number>;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface GiftCardsTable {
  id: Generated<string>;
  merchant_account_id: string;
  number_sealed: string;
  pin_sealed: string;
  bin: string;
  sub_bin: string;
  last4: string;
  expiration_date: MaybeStamp;
  created_at: Stamp;
}

export interface WebhookSubscriptionsTable {
  id: Generated<string>;
  merchant_account_id: string | null;
  active: boolean;
  url: string;
  username: string | null;
  password_sealed: string | null;
  secret_sealed: string;
  old_secret_sealed: Generated<string | null>;
  old_secret_until: MaybeStamp;
  failing_since: MaybeStamp;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface EventsTable {
  id: string;
  name: string;
  merchant_account_id: string;
  body: string;
  created_at: ColumnType<Date, Date, never>;
}

export interface DeliveriesTable {
  id: Generated<string>;
  event_id: string;
  subscription_id: string;
  state: Generated<'pending' | 'succeeded' | 'failed'>;
  attempts: Generated<number>;
  attempts_before: Generated<number>;
  round: Generated<number>;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface DeliveryAttemptsTable {
  delivery_id: string;
  number: number;
  at: ColumnType<Date, Date, never>;
  status: number | null;
  milliseconds: number;
  error: string | null;
}

export interface Tables {
  settings: { name: string; value: string };
  events: EventsTable;
  deliveries: DeliveriesTable;
  delivery_attempts: DeliveryAttemptsTable;
  buyers: BuyersTable;
  payment_methods: PaymentMethodsTable;
  gift_cards: GiftCardsTable;
  webhook_subscriptions: WebhookSubscriptionsTable;
  merchant_accounts: MerchantAccountsTable;
  roles: RolesTable;
  api_key_pairs: ApiKeyPairsTable;
  api_key_pair_roles: { api_key_pair_id: string; role_id: string };
  transactions: TransactionsTable;
  api_key_pair_merchant_accounts: { api_key_pair_id: string; merchant_account_id: string };
}
