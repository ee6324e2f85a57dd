// The queue of webhooks: a pending delivery is tried when it is due, by the worker that leases it. A lease moves `due_at` to its
// own end, so the delivery of a worker that was killed becomes due by itself: see docs/decisions/0006-webhook-queue.md.
import { sql, type RawBuilder } from 'kysely';
import { acrossAccounts, isCitus } from '../database/across-accounts.ts';
import type { Db, Tx } from '../database/database.ts';
import { sendMilliseconds } from './failure.ts';
import type { DeliveryKey } from './outbox.ts';

/** Longer than an attempt can take: ten more seconds to begin it and to record it. */
const leaseSeconds = sendMilliseconds / 1000 + 10;

const isDue = sql`state = 'pending' and due_at <= now()`;
const isLeased = sql`state = 'pending' and leased_by is not null and due_at > now()`;
/** As the index deliveries_retries has it. A replay begins anew. */
const isRetry = sql`attempts > attempts_before`;

export interface LeaseLimits {
  worker: string;
  /** Deliveries under way to one subscription, of all workers together. A subscription that fails has one. */
  perSubscription: number;
  /** Deliveries of one account that this worker holds, and those that it holds now. */
  perAccount: number;
  held: ReadonlyMap<string, number>;
  /** How many more this worker may hold. */
  most: number;
}

/** So many subscriptions get their turn at once, others the next time. */
const subscriptionsAtOnce = 500;

/**
 * Never waits for a row that others have locked: nothing would be sent meanwhile. Accounts that hold fewest deliveries come first.
 *
 * Two statements, because the second must see what was leased before the first got its locks. Whoever holds the lock of a
 * subscription is the only one who leases its deliveries, so the limit holds for all workers.
 */
export async function leaseDeliveries(tx: Tx, leases: LeaseLimits): Promise<LeasedDelivery[]> {
  if (isCitus(tx)) return leaseByAccount(tx, leases);
  const subscriptions = await lockSubscriptions(
    tx,
    sql`with recursive ${waiting}`,
    sql`(select subscription_id from waiting where due_at <= now())`,
  );
  return subscriptions.length > 0 ? lease(tx, subscriptions, leases) : [];
}

/**
 * Citus neither follows a recursion over its servers nor locks rows of several of them. So deliveries are leased account by
 * account, and the limit of a subscription for all accounts holds for each of them.
 */
async function leaseByAccount(tx: Tx, leases: LeaseLimits): Promise<LeasedDelivery[]> {
  const { rows: due } = await sql<{ account: string; subscription: string }>`
    select distinct merchant_account_id as account, subscription_id as subscription from deliveries where ${isDue}
    ${acrossAccounts('due-deliveries')}`.execute(tx);
  const wanted = sql`(select unnest(${due.map(({ subscription }) => subscription)}::uuid[]))`;
  const subscriptions = due.length > 0 ? await lockSubscriptions(tx, sql``, wanted) : [];
  const leased: LeasedDelivery[] = [];
  const heldOf = (account: string) => leases.held.get(account) ?? 0;
  const accounts = [...new Set(due.map((one) => one.account))].sort(
    (one, other) => heldOf(one) - heldOf(other),
  );
  for (const account of accounts) {
    const ids = due.filter((one) => one.account === account).map(({ subscription }) => subscription);
    const own = subscriptions.filter(({ id }) => ids.includes(id));
    const most = leases.most - leased.length;
    if (own.length > 0) leased.push(...(await lease(tx, own, { ...leases, most }, account)));
  }
  return leased;
}

const lockSubscriptions = async (tx: Tx, before: RawBuilder<unknown>, wanted: RawBuilder<unknown>) => {
  const { rows } = await sql<Subscription>`
    ${before} select id, active and failing_since is not null as "isFailing" from webhook_subscriptions
    where id in ${wanted} order by random() limit ${subscriptionsAtOnce}
    for no key update skip locked ${acrossAccounts('leases')}`.execute(tx);
  return rows;
};

interface Subscription {
  id: string;
  isFailing: boolean;
}

const nextWaiting = (than: string) => sql`
  select subscription_id, due_at from deliveries where state = 'pending' and subscription_id > ${sql.raw(than)}
  order by subscription_id, due_at limit 1`;

/** Jumps from subscription to subscription in the index, however many deliveries each of them has. */
const waiting = sql`waiting as (
  (${nextWaiting(`'00000000-0000-0000-0000-000000000000'`)})
  union all select found.* from waiting cross join lateral (${nextWaiting('waiting.subscription_id')}) as found
)`;

/**
 * Seconds until the next one is due, also if there is no room for it; undefined when none is pending, or, on Citus, none is
 * due before the next poll. Deliveries of a deleted subscription are never sent.
 */
export async function findNext(db: Db): Promise<number | undefined> {
  const [before, from] = isCitus(db)
    ? [sql``, sql`deliveries where state = 'pending' and due_at <= now() + interval '1 second' and`]
    : [sql`with recursive ${waiting}`, sql`waiting where`];
  const { rows } = await sql<{ seconds: number | null }>`
    ${before} select extract(epoch from min(due_at) - now())::float8 as seconds from ${from}
      exists (select from webhook_subscriptions where id = subscription_id)
    ${acrossAccounts('due-deliveries')}`.execute(db);
  return rows[0]?.seconds ?? undefined;
}

export interface LeasedDelivery extends DeliveryKey {
  event_id: string;
  subscription_id: string;
  attempts: number;
  /** Attempts from before a replay, which do not count for the retry schedule. */
  attempts_before: number;
  /** The trace of the request that caused the event. */
  traceparent: string | null;
  body: string;
  /** The account of the subscription; null when it is for all accounts. */
  subscription_account_id: string | null;
  active: boolean;
  url: string;
  username: string | null;
  password_sealed: string | null;
  secret_sealed: string;
  old_secret_sealed: string | null;
  old_secret_until: Date | null;
}

async function lease(
  tx: Tx,
  subscriptions: readonly Subscription[],
  { worker, perSubscription, perAccount, held, most }: LeaseLimits,
  /** Leases deliveries of this account only. */
  account?: string,
): Promise<LeasedDelivery[]> {
  if (most <= 0) return [];
  const isOwn = account === undefined ? sql`true` : sql`merchant_account_id = ${account}`;
  // Citus allows no such functions in a change: each server would have a result of its own.
  const [chance, clock] =
    account === undefined ? [sql`random()`, sql`clock_timestamp()`] : [sql`id`, sql`now()`];
  const full = [...held].filter(([, number]) => number >= perAccount).map(([account]) => account);
  /** How many more deliveries of the account of a row this worker may hold. */
  const roomOfAccount = sql`${perAccount} - coalesce(
    (${[...held.values()]}::integer[])[array_position(${[...held.keys()]}::text[], merchant_account_id)], 0)`;

  // The subscriptions, each with how many more of its deliveries may be under way. A subscription that fails has one at a time.
  const wanted = sql`
    select id, retries_first, most - (
      select count(*) from deliveries where ${isOwn} and subscription_id = wanted.id and ${isLeased}) as room
    from unnest(
      ${subscriptions.map(({ id }) => id)}::uuid[],
      ${subscriptions.map(({ isFailing }) => isFailing)}::boolean[],
      ${subscriptions.map(({ isFailing }) => (isFailing ? 1 : perSubscription))}::integer[]) as wanted (id, retries_first, most)`;

  // Of each subscription the deliveries that are due, the oldest first, as many as it has room for. If it fails, its retries go first:
  // behind the first attempts of a busy account, their turn would never come. Those of accounts without room are left out.
  const oldest = (condition: RawBuilder<unknown>) => sql`
    select * from (
      select merchant_account_id, id, due_at from deliveries
      where ${isOwn} and subscription_id = wanted.id and ${isDue} and merchant_account_id <> all(${full}::text[])
        and ${condition}
      order by due_at limit greatest(room, 0) for no key update skip locked
    ) as oldest`;
  const next = sql`
    select found.* from wanted cross join lateral (
      ${oldest(sql`retries_first and ${isRetry}`)} union all ${oldest(sql`true`)} limit greatest(room, 0)
    ) as found`;

  // They, numbered within their account, the oldest first.
  const ranked = sql`select *, row_number() over (partition by merchant_account_id order by due_at) as rank from next`;

  // Those that their accounts have room for belong to this worker now: first of the accounts that hold fewest.
  const leased = sql`
    update deliveries set leased_by = ${worker}, due_at = ${clock} + make_interval(secs => ${leaseSeconds})
    where ${isOwn} and (merchant_account_id, id) in (
      select merchant_account_id, id from ranked where rank <= ${roomOfAccount}
      order by rank + ${perAccount} - (${roomOfAccount}), ${chance} limit ${most})
      and ${isDue}
    returning merchant_account_id, id, event_id, subscription_id, attempts, attempts_before, traceparent`;

  // With what sending them needs: the event, and the subscription.
  const { rows } = await sql<LeasedDelivery>`
    with wanted as materialized (${wanted}), next as materialized (${next}), ranked as materialized (${ranked}), leased as (${leased})
    select leased.*, body, subscription.merchant_account_id as subscription_account_id, active, url, username,
      password_sealed, secret_sealed, old_secret_sealed, old_secret_until
    from leased join events on events.merchant_account_id = leased.merchant_account_id and events.id = event_id
      ${account === undefined ? sql`` : sql`and events.merchant_account_id = ${account}`}
    join webhook_subscriptions as subscription on subscription.id = subscription_id
    ${acrossAccounts('leases')}`.execute(tx);
  return rows;
}

export async function endLeases(db: Db, worker: string): Promise<void> {
  await sql`
    update deliveries set leased_by = null, due_at = now() where leased_by = ${worker} and ${isLeased}
    ${acrossAccounts('leases')}`.execute(db);
}

/** A scrape must not read a backlog of millions. */
const mostCounted = 100_000;

/**
 * Deliveries that are due, and those that wait for their time or their answer. Of a long queue only a part is counted. Deliveries of a
 * deleted subscription are never sent.
 */
export async function countQueue(db: Db): Promise<{ due: number; later: number }> {
  const { rows } = await sql<{ due: number; later: number }>`
    select count(*) filter (where due_at <= now()) as due, count(*) filter (where due_at > now()) as later
    from (
      select due_at from deliveries
      where state = 'pending' and exists (select from webhook_subscriptions where id = subscription_id)
      limit ${mostCounted}) as pending
    ${acrossAccounts('all-deliveries')}`.execute(db);
  return rows[0] ?? { due: 0, later: 0 };
}

/** How many seconds ago the oldest event happened that a subscription still waits for. By the clock of the database. */
export async function findOldestPending(db: Db): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from clock_timestamp() - created_at)::float8 as seconds from deliveries
    where state = 'pending' and exists (select from webhook_subscriptions where id = subscription_id)
    order by created_at limit 1 ${acrossAccounts('all-deliveries')}`.execute(db);
  return Math.max(0, rows[0]?.seconds ?? 0);
}
