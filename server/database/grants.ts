// What a role needs that owns nothing: to read and write all rows, but only to read and add those of the audit trail.
import { sql } from 'kysely';
import type { Db } from './database.ts';

const auditTrail = 'audit_entries';

/** To be called as the owner of the tables, after migrations. */
export async function grantRights(db: Db, role: string): Promise<void> {
  const name = sql.id(role);
  const { rows } = await sql<{ version: number }>`
    select current_setting('server_version_num')::integer as version`.execute(db);
  await db.transaction().execute(async (tx) => {
    await sql`grant select, insert, update, delete on all tables in schema public to ${name}`.execute(tx);
    await sql`revoke update, delete on ${sql.table(auditTrail)} from ${name}`.execute(tx);
    // After an erasure, the statistics of columns must not show what was erased. Older versions have no such right.
    if ((rows[0]?.version ?? 0) >= 170_000)
      await sql`grant maintain on all tables in schema public to ${name}`.execute(tx);
  });
}
