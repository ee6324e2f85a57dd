// `payments webhooks deliveries --follow` asks every second which attempts are new. A BRIN index is small and built fast, and costs next
// to nothing when an attempt is recorded.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index delivery_attempts_by_time on delivery_attempts using brin (at) with (autosummarize = on)`.execute(
    db,
  );
}
