// While a subscription fails, its retries go before first attempts: this index finds them among any number of those.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // An operator may have built it before. `if not exists` would lock the table first, and stop everybody who stores an event.
  const { rows } = await sql`select where to_regclass('deliveries_retries') is not null`.execute(db);
  if (rows.length > 0) return;
  await sql`
    create index deliveries_retries on deliveries (subscription_id, due_at)
    where state = 'pending' and attempts > attempts_before`.execute(db);
}
