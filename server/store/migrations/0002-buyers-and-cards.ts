import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table buyers (
      id uuid primary key default gen_random_uuid(),
      merchant_account_id text not null references merchant_accounts,
      external_identifier text,
      display_name text,
      account_number text,
      billing_details jsonb,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      unique (merchant_account_id, external_identifier)
    )`.execute(db);
  await sql`
    create table payment_methods (
      id uuid primary key default gen_random_uuid(),
      merchant_account_id text not null references merchant_accounts,
      buyer_id uuid references buyers,
      external_identifier text,
      status text not null check (status in ('processing', 'buyer_approval_required', 'succeeded', 'failed')),
      scheme text,
      country text,
      currency text,
      bin text,
      card_type text,
      card_issuer_name text,
      expiration_date text,
      label text,
      fingerprint text,
      number_sealed text,
      redirect_url text,
      has_replacement boolean not null default false,
      replacement jsonb,
      last_replaced_at timestamptz(3),
      last_used_at timestamptz(3),
      usage_count integer not null default 0,
      cit_last_used_at timestamptz(3),
      cit_usage_count integer not null default 0,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint payment_methods_external_identifier unique (merchant_account_id, external_identifier),
      check (has_replacement = (replacement is not null))
    )`.execute(db);
  await sql`create index payment_methods_newest on payment_methods (merchant_account_id, created_at desc, id desc)`.execute(
    db,
  );
  await sql`create index payment_methods_waiting on payment_methods (id) where has_replacement`.execute(db);
  await sql`
    create table gift_cards (
      id uuid primary key default gen_random_uuid(),
      merchant_account_id text not null references merchant_accounts,
      number_sealed text not null,
      pin_sealed text not null,
      bin text not null,
      sub_bin text not null,
      last4 text not null,
      expiration_date timestamptz(3),
      created_at timestamptz(3) not null default now()
    )`.execute(db);
  await sql`create index gift_cards_newest on gift_cards (merchant_account_id, created_at desc, id desc)`.execute(
    db,
  );
  await sql`
    create table webhook_subscriptions (
      id uuid primary key default gen_random_uuid(),
      merchant_account_id text references merchant_accounts,
      active boolean not null,
      url text not null,
      username text,
      password_sealed text,
      secret_sealed text not null,
      old_secret_sealed text,
      old_secret_until timestamptz(3),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now()
    )`.execute(db);
  await sql`create index webhook_subscriptions_newest on webhook_subscriptions (created_at desc, id desc)`.execute(
    db,
  );
}
