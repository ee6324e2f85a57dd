// A column that server/store/tables describes and no migration creates shows late: rows lack it without an error, and then an
// answer or event breaks the contract. So a sandbox looks for it at its start.
import { sql } from 'kysely';
import { DatabaseFault, type Db } from './database.ts';
import { apiKeyPairColumns } from './tables/api-key-pairs.ts';
import { buyerColumns } from './tables/buyers.ts';
import type { Tables } from './tables/index.ts';
import { merchantAccountColumns } from './tables/merchant-accounts.ts';
import { paymentMethodColumns } from './tables/payment-methods.ts';
import { roleColumns } from './tables/roles.ts';
import { filterColumns, transactionColumns } from './tables/transactions.ts';
import { webhookSubscriptionColumns } from './tables/webhook-subscriptions.ts';

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
