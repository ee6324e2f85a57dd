import { sql, type Insertable, type Selectable } from 'kysely';
import { deleteInBatches } from './batches.ts';
import type { Db, Tx } from './database.ts';
import type { AuditEntriesTable } from './tables/audit-entries.ts';

export type AuditEntry = Selectable<AuditEntriesTable>;

export const insertAuditEntry = (db: Tx, entry: Insertable<AuditEntriesTable>) =>
  db.insertInto('audit_entries').values(entry).execute();

/** The newest first. */
export function listAuditEntries(
  db: Db,
  { since, limit }: { since?: Date | undefined; limit: number },
): Promise<AuditEntry[]> {
  const query = db.selectFrom('audit_entries').selectAll().orderBy('id', 'desc').limit(limit);
  return (since ? query.where('at', '>=', since) : query).execute();
}

/** The database refuses to delete entries of the last 90 days. */
export const pruneAuditEntries = (db: Db, before: Date): Promise<number> =>
  deleteInBatches(db, { table: 'audit_entries', key: ['id'], where: sql`at < ${before}` });
