import type { ColumnType, Generated, Selectable } from 'kysely';

export interface AuditEntriesTable {
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
