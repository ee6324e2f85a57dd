// `webhooks trigger --subscription` sends an event to one subscription, and `doctor` must not miss the deliveries to the
// others. Nothing in the row of an older event says whether it was such a one, so all of them get false, and later ones true.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Both only change the catalogue, but wait for a backup that is under way.
  await sql`set local lock_timeout = '2s'`.execute(db);
  await sql`alter table events add column is_for_all boolean not null default false`.execute(db);
  await sql`alter table events alter column is_for_all set default true`.execute(db);
}
