// PostgreSQL's statistics of columns hold samples of their values, so an erasure renews them.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { inTransaction, type Db, type Tx } from '../../kit/database/database.ts';

const [unknown, never] = ['00000000-0000-0000-0000-000000000000', new Date(0)];

/** A row that says nothing, for each table whose rows are deleted, with the column that identifies it. */
const placeholders: Readonly<Record<string, { key: string; row: object }>> = {
  gift_cards: { key: 'id', row: { number_sealed: '', pin_sealed: '', bin: '', sub_bin: '', last4: '' } },
  events: { key: 'id', row: { name: '', body: '', created_at: never } },
  deliveries: { key: 'id', row: { event_id: unknown, subscription_id: unknown } },
  delivery_attempts: { key: 'delivery_id', row: { number: 0, at: never, milliseconds: 0 } },
  idempotency_keys: {
    key: 'claim',
    row: { slot: '', fingerprint: '', claimed_until: never, created_at: never },
  },
};

/** The statistics of the planner hold samples of the values. May take minutes. */
export async function refreshStatistics(db: Db, tables: readonly string[]): Promise<void> {
  await sql`analyze ${sql.join(tables.map((table) => sql.table(table)))}`.execute(db);
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where oid = any(${tables}::text[]::regclass[]) and reltuples = 0`.execute(
    db,
  );
  for (const { name } of rows) await inTransaction(db, (tx) => refreshEmpty(tx, name, placeholders[name]));
}

/** ANALYZE leaves the statistics of a table without rows as they are. Nobody else sees the row that it gets here. */
async function refreshEmpty(tx: Tx, name: string, placeholder: (typeof placeholders)[string] | undefined) {
  const account = await tx.selectFrom('merchant_accounts').select('id').limit(1).executeTakeFirst();
  // Rows of the other tables are never deleted.
  if (!placeholder || !account) return;
  const { key, row } = placeholder;
  const [table, id] = [sql.table(name), randomUUID()];
  const values = { ...row, [key]: id, merchant_account_id: account.id };
  await sql`
    insert into ${table} (${sql.join(Object.keys(values).map((column) => sql.ref(column)))})
    values (${sql.join(Object.values(values))})`.execute(tx);
  await sql`analyze ${table}`.execute(tx);
  await sql`
    delete from ${table} where merchant_account_id = ${account.id} and ${sql.ref(key)} = ${id}`.execute(tx);
}
