// A row for each bucket of numbers that are alike, so that one statement counts a number. `card_numbers` stays for instances of 1.0.0 that
// still run, and is only emptied by the daily job.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table number_buckets (
      bucket text primary key,
      seen jsonb not null,
      changed_at timestamptz(3) not null
    )`.execute(db);
  await sql`
    insert into number_buckets
    select bucket, jsonb_object_agg(number, floor(1000 * extract(epoch from seen_at))), max(seen_at)
    from card_numbers group by bucket`.execute(db);
  // Retention.
  await sql`create index number_buckets_by_age on number_buckets (changed_at)`.execute(db);
}
