import { sql, type Insertable, type Selectable } from 'kysely';
import type { Db, Tx } from './database.ts';
import type { AuditEntriesTable } from './tables/audit-entries.ts';

export type AuditEntry = Selectable<AuditEntriesTable>;

export const insertAuditEntry = (db: Tx, entry: Insertable<AuditEntriesTable>) =>
  db.insertInto('audit_entries').values(entry).execute();

export interface AuditFilter {
  since?: Date;
  until?: Date;
  operator?: string;
  /** What the command contains: one of these. */
  search?: readonly string[];
  limit: number;
}

/** The newest first. */
export function listAuditEntries(
  db: Db,
  { since, until, operator, search, limit }: AuditFilter,
): Promise<AuditEntry[]> {
  let query = db.selectFrom('audit_entries').selectAll().orderBy('id', 'desc').limit(limit);
  if (since) query = query.where('at', '>=', since);
  if (until) query = query.where('at', '<', until);
  // `alice as root` is what both of them did.
  if (operator !== undefined)
    query = query.where(
      sql<boolean>`${operator} in (operator, split_part(operator, ' as ', 1), split_part(operator, ' as ', 2))`,
    );
  if (search !== undefined)
    query = query.where(
      sql<boolean>`exists (select from unnest(${search}::text[]) as word where position(word in command) > 0)`,
    );
  return query.execute();
}
