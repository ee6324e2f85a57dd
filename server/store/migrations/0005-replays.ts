import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // A replay starts a new round with the whole retry schedule; attempt numbers continue.
  await sql`
    alter table deliveries
      add column round integer not null default 0,
      add column attempts_before integer not null default 0`.execute(db);
  await sql`create index deliveries_by_age on deliveries (created_at desc, id)`.execute(db);
}
