/** Everything that a database has, as text, to search for what should be gone. */
import { sql } from 'kysely';
import type { Db } from '../../server/kit/database/database.ts';
import { bindingOfAnswer } from '../../server/kit/idempotency/changes.ts';
import type { Vault } from '../../server/kit/secrets/vault.ts';

export async function linesOf(db: Db, table: string): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select one::text as line from ${sql.raw(table)} as one order by 1`.execute(db);
  return rows.map(({ line }) => line);
}

/** Every row of every table as text, with sealed answers opened, and what the planner remembers of the values. */
export async function dump(db: Db, { open }: Vault): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema') order by 1`.execute(db);
  const parts: string[] = [];
  for (const { name } of [...tables, { name: 'pg_stats' }]) parts.push(...(await linesOf(db, name)));
  const answers = await db
    .selectFrom('idempotency_keys')
    .select(['merchant_account_id as account', 'slot', 'answer_sealed'])
    .where('answer_sealed', 'is not', null)
    .execute();
  parts.push(
    ...answers.map(({ answer_sealed, ...place }) => open(answer_sealed ?? '', bindingOfAnswer(place))),
  );
  return parts.join('\n');
}
