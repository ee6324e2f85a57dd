// `webhooks deliveries --follow` asks every second which attempts are new. A BRIN index is small and built fast, and costs next
// to nothing when an attempt is recorded.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // As in 2-retries.ts: an operator may have built it before.
  const { rows } = await sql`select where to_regclass('delivery_attempts_by_time') is not null`.execute(db);
  if (rows.length > 0) return;
  await sql`
    create index delivery_attempts_by_time on delivery_attempts using brin (at) with (autosummarize = on)`.execute(
    db,
  );
}
