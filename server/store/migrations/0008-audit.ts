import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table audit_entries (
      id bigint generated always as identity primary key,
      at timestamptz(3) not null default now(),
      operator text not null,
      host text not null,
      command text not null
    )`.execute(db);
  // Append-only, also for whoever has a connection of the service: an entry can be added and read, nothing else.
  await sql`
    create function refuse_audit_change() returns trigger language plpgsql as $$
    begin
      raise exception 'audit entries cannot be changed';
    end $$`.execute(db);
  await sql`
    create trigger audit_entries_append_only before update or delete or truncate on audit_entries
      for each statement execute function refuse_audit_change()`.execute(db);
}
