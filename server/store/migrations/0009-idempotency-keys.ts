import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // `slot` and `fingerprint` are keyed digests. `answer_sealed` is null while the first request is running; its claim lapses
  // at `claimed_until`, because a process that was killed cannot give it back.
  await sql`
    create table idempotency_keys (
      id uuid primary key default gen_random_uuid(),
      slot text not null unique,
      fingerprint text not null,
      claim uuid not null,
      claimed_until timestamptz(3) not null,
      answer_sealed text,
      created_at timestamptz(3) not null
    )`.execute(db);
  await sql`create index idempotency_keys_by_age on idempotency_keys (created_at)`.execute(db);
}
