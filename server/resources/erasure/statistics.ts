// PostgreSQL's statistics of columns hold samples of their values, so an erasure renews them.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { inTransaction, type Db, type Tx } from '../../kit/database/database.ts';
import { facts } from '../facts.ts';

/** Whose statistics may hold values that are erased with a buyer. */
export const tablesWithTraces = Object.entries(facts).flatMap(([table, { erasure }]) =>
  erasure === 'kept' ? [] : [table],
);

/** The statistics of the planner hold samples of the values. May take minutes. */
export async function refreshStatistics(db: Db, tables: readonly string[]): Promise<void> {
  await sql`analyze ${sql.join(tables.map((table) => sql.table(table)))}`.execute(db);
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where oid = any(${tables}::text[]::regclass[]) and reltuples = 0`.execute(db);
  for (const { name } of rows)
    await inTransaction(db, (tx) => refreshEmpty(tx, name, facts[name as keyof typeof facts]));
}

/** ANALYZE leaves the statistics of a table without rows as they are. Nobody else sees the row that it gets here. */
async function refreshEmpty(tx: Tx, name: string, { placeholder }: (typeof facts)[keyof typeof facts]) {
  const account = await tx.selectFrom('merchant_accounts').select('id').limit(1).executeTakeFirst();
  // Rows of the other tables are never deleted.
  if (placeholder === 'none' || !account) return;
  const { idColumn, row } = placeholder;
  const [table, id] = [sql.table(name), randomUUID()];
  const values = { ...row, [idColumn]: id, merchant_account_id: account.id };
  await sql`
    insert into ${table} (${sql.join(Object.keys(values).map((column) => sql.ref(column)))})
    values (${sql.join(Object.values(values))})`.execute(tx);
  await sql`analyze ${table}`.execute(tx);
  await sql`
    delete from ${table}
    where merchant_account_id = ${account.id} and ${sql.ref(idColumn)} = ${id}`.execute(tx);
}
