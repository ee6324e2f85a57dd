import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table merchant_accounts (
      id text primary key check (length(id) between 1 and 255 and id <> '*'),
      display_name text not null,
      over_capture_amount bigint not null default 0,
      over_capture_percentage integer,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now()
    )`.execute(db);
  await sql`create index merchant_accounts_by_age on merchant_accounts (created_at, id)`.execute(db);
  await sql`
    create table roles (
      id uuid primary key default gen_random_uuid(),
      slug text not null unique,
      name text not null,
      description text,
      permissions text[] not null,
      assignable_to text[] not null default '{api-key-pair}',
      applies_to text[] not null default '{merchant-account}',
      is_standalone_assignable boolean not null default true
    )`.execute(db);
  await sql`
    create table api_key_pairs (
      id uuid primary key default gen_random_uuid(),
      thumbprint text not null unique,
      display_name text not null check (length(display_name) between 1 and 200),
      algorithm text not null check (algorithm in ('ECDSA', 'RSA')),
      public_key text not null,
      active boolean not null default true,
      creator_id uuid,
      creator_name text,
      creator_email_address text,
      creator_thumbprint text,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      last_used_at timestamptz(3)
    )`.execute(db);
  await sql`create index api_key_pairs_newest on api_key_pairs (created_at desc, id desc)`.execute(db);
  await sql`
    create table api_key_pair_roles (
      api_key_pair_id uuid not null references api_key_pairs on delete cascade,
      role_id uuid not null references roles,
      primary key (api_key_pair_id, role_id)
    )`.execute(db);
  await sql`
    create table api_key_pair_merchant_accounts (
      api_key_pair_id uuid not null references api_key_pairs on delete cascade,
      merchant_account_id text not null references merchant_accounts,
      primary key (api_key_pair_id, merchant_account_id)
    )`.execute(db);
  // The columns that rate-limiter-flexible requires.
  await sql`create table rate_limits (key varchar(255) primary key, points integer not null default 0, expire bigint)`.execute(
    db,
  );
  // `administrator` exists from the start.
  await sql`
    insert into roles (slug, name, description, permissions)
    values ('administrator', 'Administrator', 'May read and write everything', '{*.read,*.write}')`.execute(
    db,
  );
}
