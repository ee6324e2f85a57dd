// Which form sealed values have: see docs/decisions/0014-bound-values.md.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // If this transaction also made the first tables, no older version has used the database or is using it now.
  await sql`
    insert into settings (name, value)
    select 'sealing', case when exists (
      select from kysely_migration
      where name = '0001-accounts-and-keys' and xmin = pg_current_xact_id()::xid
    ) then 'bound' else 'unbound' end`.execute(db);
}
