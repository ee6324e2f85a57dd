import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // A decline that is imported applies a replacement only if it is later than the moment at which that was found. When the
  // existing ones were found is not known: they count as found now, so that no imported history triggers anything.
  await sql`alter table payment_methods add column replacement_found_at timestamptz(3)`.execute(db);
  await sql`update payment_methods set replacement_found_at = now() where has_replacement`.execute(db);
}
