// The audit trail: what operators did, with time, command and who ran it. An entry is written in the transaction of the
// change, so there is none without the other.
import { sql, type ColumnType, type Generated, type Selectable } from 'kysely';
import type { Db } from '../database/database.ts';
import type { Work } from '../database/unit-of-work.ts';
import { plain, type Facts } from './facts.ts';

interface AuditEntriesTable {
  id: Generated<number>;
  at: ColumnType<Date, Date | undefined, never>;
  operator: string;
  host: string;
  command: string;
}

export type AuditEntry = Selectable<AuditEntriesTable>;

declare module '../database/tables.ts' {
  interface Tables {
    audit_entries: AuditEntriesTable;
  }
}

export const auditEntries = {
  ...plain,
  key: { id: 'bigint' },
  isByAccount: false,
  // The database refuses to delete entries of the last 90 days.
  retention: {
    job: 'old-audit-entries',
    milliseconds: ({ auditRetentionDays: days }) => (days === undefined ? undefined : days * 86_400_000),
    time: 'at',
  },
} as const satisfies Facts<'audit_entries'>;

interface OperatorCommand {
  operator: string;
  host: string;
  /** Arguments of a command hold no secrets: numbers, PINs and keys come on standard input or in files. */
  command: string;
}

export const writeAuditEntry = async ({ db }: Work, operation: OperatorCommand): Promise<void> => {
  await db.insertInto('audit_entries').values(operation).execute();
};

export interface AuditFilter {
  since?: Date;
  until?: Date;
  operator?: string;
  /** What the command contains: one of these. */
  search?: readonly string[];
  limit: number;
}

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
