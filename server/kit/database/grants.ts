// What a role needs that owns nothing: to read and write all rows, but only to read and add those of the audit trail.
import { sql } from 'kysely';
import { OperatorFault } from '../faults.ts';
import { guide } from '../guides.ts';
import type { Db } from './database.ts';

const auditTrail = 'audit_entries';

export async function grantRights(db: Db, role: string): Promise<void> {
  const name = sql.id(role);
  const { version, schema } = await findFor(db, role);
  const ours = sql.id(schema);
  await db.transaction().execute(async (tx) => {
    await sql`grant usage on schema ${ours} to ${name}`.execute(tx);
    await sql`grant select, insert, update, delete on all tables in schema ${ours} to ${name}`.execute(tx);
    await sql`revoke update, delete on ${sql.table(auditTrail)} from ${name}`.execute(tx);
    // Nobody needs a number of theirs to add a row, but pg_dump reads the last one.
    await sql`grant select on all sequences in schema ${ours} to ${name}`.execute(tx);
    // After an erasure, the statistics of columns must not show what was erased. Older versions have no such right.
    if (version >= 170_000) await sql`grant maintain on all tables in schema ${ours} to ${name}`.execute(tx);
  });
  // Who does not own the schema was only warned.
  const { rows } = await sql<{ owner: string }>`
    select pg_get_userbyid(nspowner) as owner from pg_namespace
    where nspname = ${schema} and not has_schema_privilege(${role}, oid, 'usage')`.execute(db);
  const [refused] = rows;
  if (refused)
    throw new OperatorFault(
      `The schema ${schema} belongs to ${refused.owner}, who must call once: grant usage on schema "${schema}" to "${role}"`,
    );
}

/**
 * The version of PostgreSQL, and the schema of our tables. Refuses a role that does not exist, one that may do anything whatever it is
 * granted, and to grant as somebody who owns nothing: PostgreSQL only warns then.
 */
async function findFor(db: Db, role: string): Promise<{ version: number; schema: string }> {
  const { rows } = await sql<{
    version: number;
    schema: string;
    exists: boolean;
    owns: boolean;
    owner: string;
    isOwner: boolean;
  }>`
    select current_setting('server_version_num')::integer as version, nspname as schema, given.oid is not null as exists,
      coalesce(pg_has_role(given.oid, audit.relowner, 'member'), false) as owns, pg_get_userbyid(audit.relowner) as owner,
      pg_has_role(audit.relowner, 'usage') as "isOwner"
    from pg_class as audit join pg_namespace on pg_namespace.oid = relnamespace
      left join pg_roles as given on given.rolname = ${role}
    where audit.oid = ${auditTrail}::regclass`.execute(db);
  const [found] = rows;
  const how = `see "Two database roles" in ${guide('guides/operator.md')}`;
  if (!found?.exists)
    throw new OperatorFault(
      `There is no role ${role} in this PostgreSQL server. Check the name, or create it: ${how}.`,
    );
  if (found.owns)
    throw new OperatorFault(
      `${role} ${role === found.owner ? 'owns the tables' : `is a superuser or a member of ${found.owner}, which owns the tables`}, so it can empty the audit trail. Name a role for the service that owns nothing: ${how}.`,
    );
  if (!found.isOwner)
    throw new OperatorFault(
      `The role of DATABASE_URL (or DATABASE_URL_FILE) does not own the tables, so it cannot grant rights. Call this with the settings of ${found.owner}.`,
    );
  return found;
}

/** Refuses to erase as a role that could erase rows only: PostgreSQL would warn it, and leave the statistics as they are. */
export async function requireRightToErase(db: Db, tables: readonly string[]): Promise<void> {
  const { rows } = await sql<{ name: string; owner: string }>`
    select relname as name, pg_get_userbyid(relowner) as owner from pg_class
    where oid = any(${tables}::text[]::regclass[]) and not pg_has_role(relowner, 'usage')
      and not case when current_setting('server_version_num')::integer >= 170000 then has_table_privilege(oid, 'maintain')
        else false end
      and not (select pg_has_role(datdba, 'usage') from pg_database where datname = current_database())
    order by relname limit 1`.execute(db);
  const [found] = rows;
  if (found)
    throw new OperatorFault(
      `This role cannot erase: PostgreSQL keeps statistics of ${found.name}, which show values of its rows, and lets only ${found.owner}, who owns it, renew them. Call this with the settings of ${found.owner}: see "Two database roles" in ${guide('guides/operator.md')}.`,
    );
}
