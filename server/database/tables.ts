// What is known of all tables: their types, for Kysely (but those that only raw SQL uses: `rate_limits` and `applied_migrations`),
// and their columns.
import { type ApiKeyPairsTable, apiKeyPairColumns } from '../resources/api-key-pairs/table.ts';
import type { AuditEntriesTable } from '../upkeep/audit.ts';
import { type BuyersTable, buyerColumns } from '../resources/buyers/table.ts';
import type { CardNumbersTable } from '../resources/card-numbers/table.ts';
import type { DeliveriesTable, DeliveryAttemptsTable, EventsTable } from '../events/table.ts';
import type { GiftCardsTable } from '../resources/gift-cards/table.ts';
import type { IdempotencyKeysTable } from '../resources/idempotency-keys/table.ts';
import { type MerchantAccountsTable, merchantAccountColumns } from '../resources/merchant-accounts/table.ts';
import { type PaymentMethodsTable, paymentMethodColumns } from '../resources/payment-methods/table.ts';
import { type RolesTable, roleColumns } from '../resources/roles/table.ts';
import {
  type TransactionsTable,
  filterColumns,
  transactionColumns,
} from '../resources/transactions/table.ts';
import {
  type WebhookSubscriptionsTable,
  webhookSubscriptionColumns,
} from '../resources/webhook-subscriptions/table.ts';
import { sql } from 'kysely';
import { DatabaseFault } from './faults.ts';
import type { Db } from './database.ts';

export interface Tables {
  audit_entries: AuditEntriesTable;
  settings: { name: string; value: string };
  merchant_accounts: MerchantAccountsTable;
  roles: RolesTable;
  api_key_pairs: ApiKeyPairsTable;
  api_key_pair_roles: { api_key_pair_id: string; role_id: string };
  api_key_pair_merchant_accounts: { api_key_pair_id: string; merchant_account_id: string };
  buyers: BuyersTable;
  payment_methods: PaymentMethodsTable;
  gift_cards: GiftCardsTable;
  transactions: TransactionsTable;
  webhook_subscriptions: WebhookSubscriptionsTable;
  idempotency_keys: IdempotencyKeysTable;
  events: EventsTable;
  deliveries: DeliveriesTable;
  delivery_attempts: DeliveryAttemptsTable;
  card_numbers: CardNumbersTable;
}

// A column that a resource's table describes and no migration creates shows late: rows lack it without an error, and then an
// answer or event breaks the contract. So whatever opens the database looks for it.

const described = Object.entries({
  api_key_pairs: apiKeyPairColumns,
  buyers: buyerColumns,
  merchant_accounts: merchantAccountColumns,
  payment_methods: paymentMethodColumns,
  roles: roleColumns,
  transactions: { ...transactionColumns, ...filterColumns },
  webhook_subscriptions: webhookSubscriptionColumns,
} satisfies Partial<Record<keyof Tables, object>>).flatMap(([table, columns]) =>
  Object.keys(columns).map((column) => `${table}.${column}`),
);

export async function requireColumns(db: Db): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select attrelid::regclass || '.' || attname as name from pg_attribute
    where attrelid = any(${[...new Set(described.map((name) => name.split('.')[0]))]}::text[]::regclass[])
      and attnum > 0 and not attisdropped`.execute(db);
  const found = new Set(rows.map(({ name }) => name));
  const missing = described.filter((name) => !found.has(name));
  if (missing.length > 0)
    throw new DatabaseFault(
      `The database has no column ${missing.join(', ')}. Is a migration missing? See docs/guides/backend-engineer.md, ` +
        '"A migration and a column".',
    );
}
