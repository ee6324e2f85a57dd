// The tables that every API has. What belongs to a merchant account has the account as the first column of its primary key, so that
// accounts can be spread over several servers: see docs/decisions/0018-account-first.md. IDs are unique over all accounts.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    ...installation,
    ...merchantAccounts,
    ...apiKeyPairs,
    ...webhookSubscriptions,
    ...events,
    ...idempotency,
    ...limits,
    ...auditTrail,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const installation = [`create table settings (name text primary key, value text not null)`];

const merchantAccounts = [
  `create table merchant_accounts (
     id text primary key check (length(id) between 1 and 255 and id <> '*'),
     display_name text not null,
     over_capture_amount bigint not null default 0,
     over_capture_percentage integer,
     -- Made at the first use: see server/kit/secrets/digest-keys.ts.
     key_sealed text,
     created_at timestamptz(3) not null default now(),
     updated_at timestamptz(3) not null default now()
   )`,
  // The oldest account is the default one, and lists of accounts begin with it.
  `create index merchant_accounts_by_age on merchant_accounts (created_at, id)`,
];

const apiKeyPairs = [
  `create table roles (
     id uuid primary key default gen_random_uuid(),
     slug text not null unique,
     name text not null,
     description text,
     permissions text[] not null,
     assignable_to text[] not null default '{api-key-pair}',
     applies_to text[] not null default '{merchant-account}',
     is_standalone_assignable boolean not null default true
   )`,
  `insert into roles (slug, name, description, permissions)
   values ('administrator', 'Administrator', 'May read and write everything', '{*.read,*.write}')`,
  `create table api_key_pairs (
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
   )`,
  // GET /api-key-pairs
  `create index api_key_pairs_newest on api_key_pairs (created_at desc, id desc)`,
  `create table api_key_pair_roles (
     api_key_pair_id uuid not null references api_key_pairs on delete cascade,
     role_id uuid not null references roles,
     primary key (api_key_pair_id, role_id)
   )`,
  `create table api_key_pair_merchant_accounts (
     api_key_pair_id uuid not null references api_key_pairs on delete cascade,
     merchant_account_id text not null references merchant_accounts,
     primary key (api_key_pair_id, merchant_account_id)
   )`,
];

const webhookSubscriptions = [
  // Without an account: for the events of all accounts.
  `create table webhook_subscriptions (
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
     updated_at timestamptz(3) not null default now(),
     failing_since timestamptz(3)
   )`,
  // GET /webhook-subscriptions
  `create index webhook_subscriptions_newest on webhook_subscriptions (created_at desc, id desc)`,
  // Every event looks for the subscriptions of its account and for those without one.
  `create index webhook_subscriptions_by_account on webhook_subscriptions (merchant_account_id)`,
];

const events = [
  // The body is text and not json, because every attempt must sign the same bytes.
  `create table events (
     id uuid not null,
     name text not null,
     merchant_account_id text not null,
     body text not null,
     created_at timestamptz(3) not null,
     primary key (merchant_account_id, id)
   )`,
  // Retention, erasure, and the history of a record.
  `create index events_by_age on events (merchant_account_id, created_at, id)`,
  // The queue: see server/kit/events/deliveries.ts. A replay begins the retry schedule anew; attempt numbers continue.
  `create table deliveries (
     id uuid not null default gen_random_uuid(),
     event_id uuid not null,
     subscription_id uuid not null,
     state text not null default 'pending' check (state in ('pending', 'succeeded', 'failed')),
     attempts integer not null default 0,
     created_at timestamptz(3) not null default now(),
     updated_at timestamptz(3) not null default now(),
     attempts_before integer not null default 0,
     merchant_account_id text not null,
     due_at timestamptz not null default now(),
     leased_by uuid,
     traceparent text,
     primary key (merchant_account_id, id)
   )`,
  `create index deliveries_by_event on deliveries (event_id)`,
  // The command `webhooks deliveries`, of one subscription and of all.
  `create index deliveries_by_subscription on deliveries (subscription_id, created_at desc)`,
  `create index deliveries_by_age on deliveries (created_at desc, id)`,
  // The command `webhooks replay --failed`.
  `create index deliveries_failed on deliveries (created_at desc) where state = 'failed'`,
  // The oldest pending delivery, for metrics.
  `create index deliveries_pending on deliveries (created_at) where state = 'pending'`,
  // What is due of each subscription, and what of it is under way.
  `create index deliveries_due on deliveries (subscription_id, due_at) where state = 'pending'`,
  `create index deliveries_leased on deliveries (subscription_id) where leased_by is not null`,
  `create table delivery_attempts (
     delivery_id uuid not null,
     number integer not null,
     at timestamptz(3) not null,
     status integer,
     milliseconds integer not null,
     error text,
     answer text,
     merchant_account_id text not null,
     primary key (merchant_account_id, delivery_id, number)
   )`,
];

const idempotency = [
  // `slot` and `fingerprint` are keyed digests. A claim lapses at `claimed_until`, because a process that was killed cannot give it
  // back. By `resource_id`, such as that of a booking, an erasure finds the answers that show it.
  `create table idempotency_keys (
     merchant_account_id text not null,
     slot text not null,
     fingerprint text not null,
     claim uuid not null,
     claimed_until timestamptz(3) not null,
     answer_sealed text,
     resource_id uuid,
     created_at timestamptz(3) not null,
     primary key (merchant_account_id, slot)
   )`,
  // Retention.
  `create index idempotency_keys_by_age on idempotency_keys (merchant_account_id, created_at)`,
];

const limits = [
  // Calls (`points`), and the end of their window in milliseconds (`expire`).
  `create table rate_limits (key varchar(255) primary key, points integer not null default 0, expire bigint)`,
  // Retention.
  `create index rate_limits_by_age on rate_limits (expire)`,
];

const auditTrail = [
  `create table audit_entries (
     id bigint generated always as identity primary key,
     at timestamptz(3) not null default now(),
     operator text not null,
     host text not null,
     command text not null
   )`,
  // The command `audit --since`, and retention.
  `create index audit_entries_by_age on audit_entries (at)`,
  `create function refuse_audit_change() returns trigger language plpgsql as $$
   begin
     raise exception 'audit entries cannot be changed';
   end $$`,
  `create trigger audit_entries_append_only before update or truncate on audit_entries
     for each statement execute function refuse_audit_change()`,
  // The trail has names of operators, so it may be kept for a limited time (AUDIT_RETENTION_DAYS). Whoever has a connection of the
  // service can remove entries that are older than 90 days, and cannot hide what was done since.
  `create trigger audit_entries_not_removed before delete on audit_entries
     for each row when (old.at > current_timestamp - interval '90 days') execute function refuse_audit_change()`,
];
