// While a subscription fails, its retries go before first attempts: this index finds them among any number of those.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index if not exists deliveries_retries on deliveries (subscription_id, due_at)
    where state = 'pending' and attempts > attempts_before`.execute(db);
}
