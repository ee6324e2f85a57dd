import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // An imported decline applies a replacement only if the replacement was found before it. It is unknown when existing
  // replacements were found; `now()` makes sure that imported history does not apply them.
  await sql`alter table payment_methods add column replacement_found_at timestamptz(3)`.execute(db);
  await sql`update payment_methods set replacement_found_at = now() where has_replacement`.execute(db);
}
