// A column that a resource's table describes and no migration creates shows late: rows lack it without an error, and then an
// answer or event breaks the contract. So whatever opens the database looks for it.
import { sql } from 'kysely';
import { DatabaseFault, type Db } from './database.ts';
import { apiKeyPairColumns } from '../resources/api-key-pairs/table.ts';
import { buyerColumns } from '../resources/buyers/table.ts';
import type { Tables } from './tables.ts';
import { merchantAccountColumns } from '../resources/merchant-accounts/table.ts';
import { paymentMethodColumns } from '../resources/payment-methods/table.ts';
import { roleColumns } from '../resources/roles/table.ts';
import { filterColumns, transactionColumns } from '../resources/transactions/table.ts';
import { webhookSubscriptionColumns } from '../resources/webhook-subscriptions/table.ts';

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
