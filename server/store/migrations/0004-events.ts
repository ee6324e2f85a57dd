import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // The body is text and not json, because every attempt must sign the same bytes.
  await sql`
    create table events (
      id uuid primary key,
      name text not null,
      merchant_account_id text not null references merchant_accounts,
      body text not null,
      created_at timestamptz(3) not null
    )`.execute(db);
  await sql`create index events_by_age on events (created_at)`.execute(db);
  await sql`
    create table deliveries (
      id uuid primary key default gen_random_uuid(),
      event_id uuid not null references events on delete cascade,
      subscription_id uuid not null references webhook_subscriptions on delete cascade,
      state text not null default 'pending' check (state in ('pending', 'succeeded', 'failed')),
      attempts integer not null default 0,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now()
    )`.execute(db);
  await sql`create index deliveries_by_event on deliveries (event_id)`.execute(db);
  await sql`create index deliveries_by_subscription on deliveries (subscription_id, created_at desc)`.execute(
    db,
  );
  await sql`create index deliveries_failed on deliveries (created_at desc) where state = 'failed'`.execute(
    db,
  );
  await sql`
    create table delivery_attempts (
      delivery_id uuid not null references deliveries on delete cascade,
      number integer not null,
      at timestamptz(3) not null,
      status integer,
      milliseconds integer not null,
      error text,
      primary key (delivery_id, number)
    )`.execute(db);
  await sql`alter table webhook_subscriptions add column failing_since timestamptz(3)`.execute(db);
}
