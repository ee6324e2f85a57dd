import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table buyers add column erased_at timestamptz(3)`.execute(db);
  await sql`create index payment_methods_by_buyer on payment_methods (buyer_id) where buyer_id is not null`.execute(
    db,
  );
  // The trail has names of operators, so it may be kept for a limited time (AUDIT_RETENTION_DAYS). Whoever has a connection of
  // the service can remove entries that are older than 90 days, and cannot hide what was done since.
  await sql`drop trigger audit_entries_append_only on audit_entries`.execute(db);
  await sql`
    create trigger audit_entries_append_only before update or truncate on audit_entries
      for each statement execute function refuse_audit_change()`.execute(db);
  await sql`
    create trigger audit_entries_not_removed before delete on audit_entries
      for each row when (old.at > current_timestamp - interval '90 days') execute function refuse_audit_change()`.execute(
    db,
  );
}
