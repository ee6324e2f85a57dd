import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Which numbers were tried lately, as keyed digests, for the limit on numbers that are alike.
  await sql`
    create table card_numbers (
      bucket text not null,
      number text not null,
      seen_at timestamptz(3) not null,
      primary key (bucket, number)
    )`.execute(db);
  await sql`create index card_numbers_by_age on card_numbers (seen_at)`.execute(db);
}
