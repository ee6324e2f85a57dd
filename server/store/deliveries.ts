// The queue of webhooks: a pending delivery is tried when it is due, by the worker that leases it. A lease moves `due_at` to its
// own end, so the delivery of a worker that was killed becomes due by itself: see docs/decisions/0006-webhook-queue.md.
import { sql } from 'kysely';
import { acrossAccounts } from './across-accounts.ts';
import type { Db, Tx } from './database.ts';
import { withEvents, type DeliveryKey } from './events.ts';

/** Longer than an attempt takes (15 s) with recording it. */
const leaseSeconds = 25;

const isDue = sql`state = 'pending' and due_at <= now()`;
const isLeased = sql`state = 'pending' and leased_by is not null and due_at > now()`;

export interface Leases {
  worker: string;
  /** Deliveries under way to one subscription, of all workers together. One that fails has one. */
  perSubscription: number;
  /** Deliveries of one account that this worker holds, and those that it holds now. */
  perAccount: number;
  held: ReadonlyMap<string, number>;
  /** How many more this worker may hold. */
  most: number;
}

export interface Leased {
  leased: LeasedDelivery[];
  /** Whether some were due, leased or not. */
  wereDue: boolean;
  /** Until the next one is due; undefined when none is pending. */
  nextSeconds: number | undefined;
}

/** So many subscriptions get their turn at once, others the next time. */
const subscriptionsAtOnce = 500;

/**
 * Two statements, because the second must see what was leased before the first got its locks. Whoever holds the lock of a
 * subscription is the only one who leases its deliveries, so the limit holds for all workers.
 */
export async function leaseDeliveries(tx: Tx, leases: Leases): Promise<Leased> {
  const { due, nextSeconds } = await findDue(tx);
  const wereDue = due.length > 0;
  if (!wereDue || leases.most <= 0) return { leased: [], wereDue, nextSeconds };
  const { rows: subscriptions } = await sql<Subscription>`
    select id, active and failing_since is not null as "isFailing" from webhook_subscriptions
    where id = any(${due}::uuid[]) order by random() limit ${subscriptionsAtOnce}
    for no key update skip locked`.execute(tx);
  const leased = subscriptions.length > 0 ? await lease(tx, subscriptions, leases) : [];
  return { leased, wereDue, nextSeconds };
}

interface Subscription {
  id: string;
  isFailing: boolean;
}

/** Subscriptions with deliveries that are due. */
async function findDue(tx: Tx): Promise<{ due: string[]; nextSeconds: number | undefined }> {
  // Jumps from subscription to subscription in the index, however many deliveries each of them has.
  const next = (than: string) => sql`
    select subscription_id, due_at from deliveries where state = 'pending' and subscription_id > ${sql.raw(than)}
    order by subscription_id, due_at limit 1`;
  const { rows } = await sql<{ id: string; seconds: number }>`
    with recursive waiting as (
      (${next(`'00000000-0000-0000-0000-000000000000'`)})
      union all select found.* from waiting cross join lateral (${next('waiting.subscription_id')}) as found
    )
    select subscription_id as id, extract(epoch from due_at - now())::float8 as seconds from waiting
    where exists (select from webhook_subscriptions where id = subscription_id)
    ${acrossAccounts('due-deliveries')}`.execute(tx);
  const later = rows.filter(({ seconds }) => seconds > 0);
  return {
    due: rows.filter(({ seconds }) => seconds <= 0).map(({ id }) => id),
    nextSeconds:
      later.length > 0 ? later.reduce((least, { seconds }) => Math.min(least, seconds), Infinity) : undefined,
  };
}

async function lease(
  tx: Tx,
  subscriptions: readonly Subscription[],
  { worker, perSubscription, perAccount, held, most }: Leases,
): Promise<LeasedDelivery[]> {
  const full = [...held].filter(([, number]) => number >= perAccount).map(([account]) => account);
  const room = sql`${perAccount} - coalesce(
    (${[...held.values()]}::integer[])[array_position(${[...held.keys()]}::text[], merchant_account_id)], 0)`;
  const { rows } = await sql<DeliveryKey>`
    with waiting as (
      select id, most - (select count(*) from deliveries where subscription_id = waiting.id and ${isLeased}) as room
      from unnest(
        ${subscriptions.map(({ id }) => id)}::uuid[],
        ${subscriptions.map(({ isFailing }) => (isFailing ? 1 : perSubscription))}::integer[]) as waiting (id, most)
    ), next as materialized (
      select found.* from waiting cross join lateral (
        select merchant_account_id, id, due_at from deliveries
        where subscription_id = waiting.id and ${isDue} and merchant_account_id <> all(${full}::text[])
        order by due_at limit greatest(room, 0)
      ) as found
    ), ranked as materialized (
      select *, row_number() over (partition by merchant_account_id order by due_at) as rank from next
    )
    update deliveries set leased_by = ${worker}, due_at = now() + make_interval(secs => ${leaseSeconds})
    where (merchant_account_id, id) in (
      select merchant_account_id, id from ranked where rank <= ${room} order by rank limit ${most})
    returning merchant_account_id, id ${acrossAccounts('leases')}`.execute(tx);
  return rows.length > 0 ? readLeased(tx, rows) : [];
}

export type LeasedDelivery = Awaited<ReturnType<typeof readLeased>>[number];

const readLeased = (tx: Tx, keys: readonly DeliveryKey[]) =>
  withEvents(tx)
    .innerJoin('webhook_subscriptions as subscription', 'subscription.id', 'deliveries.subscription_id')
    .select([
      'deliveries.id',
      'deliveries.attempts',
      'deliveries.attempts_before',
      'deliveries.event_id',
      'deliveries.merchant_account_id',
      'deliveries.traceparent',
      'events.body',
      'deliveries.subscription_id',
      'subscription.merchant_account_id as subscription_account_id',
      'subscription.active',
      'subscription.url',
      'subscription.username',
      'subscription.password_sealed',
      'subscription.secret_sealed',
      'subscription.old_secret_sealed',
      'subscription.old_secret_until',
    ])
    .where(
      sql<boolean>`(deliveries.merchant_account_id, deliveries.id) in (select * from unnest(
        ${keys.map((key) => key.merchant_account_id)}::text[], ${keys.map(({ id }) => id)}::uuid[]))`,
    )
    .modifyEnd(acrossAccounts('due-deliveries'))
    .execute();

export interface Attempt {
  at: Date;
  status: number | null;
  milliseconds: number;
  error: string | null;
  /** The beginning of what the receiver said with a status other than 2xx. */
  answer: string | null;
}

export interface Attempted {
  delivery: Pick<LeasedDelivery, 'merchant_account_id' | 'id' | 'subscription_id' | 'attempts_before'>;
  attempt: Attempt;
  outcome: 'succeeded' | 'failed' | 'gone';
  /** Seconds until the next attempt; undefined when there is none. */
  wait: number | undefined;
}

export interface Recorded {
  /** Why nothing was recorded of some deliveries, by their IDs. */
  lost: Map<string, 'erased' | 'deleted' | 'leased by another worker'>;
  /** Subscriptions. */
  switchedOff: string[];
}

/** Records attempts and ends their leases. */
export async function recordAttempts(
  tx: Tx,
  worker: string,
  made: readonly Attempted[],
  switchOffAfterMilliseconds: number,
): Promise<Recorded> {
  const accounts = new Set(made.map(({ delivery }) => delivery.merchant_account_id));
  const recorded = new Set<string>();
  for (const account of [...accounts].sort()) {
    const own = made.filter(({ delivery }) => delivery.merchant_account_id === account);
    for (const id of await recordOf(tx, worker, account, own)) recorded.add(id);
  }
  const lost = await findLost(
    tx,
    made.map(({ delivery }) => delivery).filter(({ id }) => !recorded.has(id)),
  );
  return { lost, switchedOff: await noteOutcomes(tx, made, switchOffAfterMilliseconds) };
}

/** A delivery is deleted with its subscription, or by `payments buyers erase`. */
async function findLost(tx: Tx, unrecorded: readonly Attempted['delivery'][]): Promise<Recorded['lost']> {
  const lost: Recorded['lost'] = new Map();
  for (const { merchant_account_id: account, id, subscription_id } of unrecorded) {
    const { rows } = await sql<{ isThere: boolean; isDeleted: boolean }>`
      select exists (select from deliveries where merchant_account_id = ${account} and id = ${id}) as "isThere",
        not exists (select from webhook_subscriptions where id = ${subscription_id}) as "isDeleted"`.execute(
      tx,
    );
    const [{ isThere, isDeleted } = { isThere: false, isDeleted: false }] = rows;
    lost.set(id, isThere ? 'leased by another worker' : isDeleted ? 'deleted' : 'erased');
  }
  return lost;
}

/** Returns the IDs of the deliveries. One that was replayed meanwhile is due again. */
async function recordOf(
  tx: Tx,
  worker: string,
  account: string,
  made: readonly Attempted[],
): Promise<string[]> {
  const ids = made.map(({ delivery }) => delivery.id);
  // Not joined with the values: a sharded engine allows no function in the FROM of an update.
  const of = (values: readonly unknown[], type: 'integer' | 'text' | 'float8') =>
    sql`(${values}::${sql.raw(type)}[])[array_position(${ids}::uuid[], id)]`;
  const before = of(
    made.map(({ delivery }) => delivery.attempts_before),
    'integer',
  );
  const states = of(
    made.map(({ outcome, wait }) =>
      outcome === 'succeeded' ? 'succeeded' : wait === undefined ? 'failed' : 'pending',
    ),
    'text',
  );
  const waits = of(
    made.map(({ wait }) => wait ?? 0),
    'float8',
  );
  const { rows } = await sql<{ id: string; number: number }>`
    update deliveries set attempts = attempts + 1, updated_at = now(), leased_by = null,
      state = case when attempts_before = ${before} then ${states} else 'pending' end,
      due_at = now() + case when attempts_before = ${before} then make_interval(secs => ${waits}) else '0' end
    where merchant_account_id = ${account} and id = any(${ids}::uuid[]) and leased_by = ${worker}
    returning id, attempts as number`.execute(tx);
  const numbers = new Map(rows.map(({ id, number }) => [id, number]));
  const found = made.filter(({ delivery }) => numbers.has(delivery.id));
  await sql`
    insert into delivery_attempts (merchant_account_id, delivery_id, number, at, status, milliseconds, error, answer)
    select ${account}::text, * from unnest(
      ${found.map(({ delivery }) => delivery.id)}::uuid[],
      ${found.map(({ delivery }) => numbers.get(delivery.id))}::integer[],
      ${found.map(({ attempt }) => attempt.at.toISOString())}::timestamptz[],
      ${found.map(({ attempt }) => attempt.status)}::integer[],
      ${found.map(({ attempt }) => attempt.milliseconds)}::integer[],
      ${found.map(({ attempt }) => attempt.error)}::text[],
      ${found.map(({ attempt }) => attempt.answer)}::text[])`.execute(tx);
  return rows.map(({ id }) => id);
}

/** In the order in which they ended: a success ends earlier failures, and a failure after it begins anew. */
async function noteOutcomes(tx: Tx, made: readonly Attempted[], offAfter: number): Promise<string[]> {
  const succeeded: string[] = [];
  const failed: [id: string, failure: Attempted][] = [];
  // Workers wait for each other's rows, so all of them take them in one order.
  for (const id of [...new Set(made.map(({ delivery }) => delivery.subscription_id))].sort()) {
    const own = made.filter(({ delivery }) => delivery.subscription_id === id);
    const lastSuccess = own.findLastIndex(({ outcome }) => outcome === 'succeeded');
    if (lastSuccess >= 0) succeeded.push(id);
    const failure = own.find(({ outcome }) => outcome === 'gone') ?? own[lastSuccess + 1];
    if (failure) failed.push([id, failure]);
  }
  if (succeeded.length > 0)
    await sql`
      update webhook_subscriptions set failing_since = null
      where id = any(${succeeded}::uuid[]) and failing_since is not null`.execute(tx);
  const switchedOff: string[] = [];
  for (const [id, failure] of failed) if (await noteFailure(tx, id, failure, offAfter)) switchedOff.push(id);
  return switchedOff;
}

/** Switches the subscription off, and returns true, if it only failed for too long. */
async function noteFailure(
  tx: Tx,
  id: string,
  { outcome, attempt: { at } }: Attempted,
  offAfter: number,
): Promise<boolean> {
  // Only the first failure and the one that switches the subscription off update the row; the others do not lock it.
  const limit = new Date(at.getTime() - offAfter);
  const off = sql<boolean>`(${outcome === 'gone'} or coalesce(failing_since <= ${limit}, false))`;
  const { rows } = await sql<{ off: boolean }>`
    update webhook_subscriptions set
      failing_since = coalesce(failing_since, ${at}),
      active = not ${off},
      updated_at = case when ${off} then ${at} else updated_at end
    where id = ${id} and active and (failing_since is null or ${off})
    returning not active as off`.execute(tx);
  return rows[0]?.off ?? false;
}

/** Makes due what the worker still holds. */
export async function endLeases(db: Db, worker: string): Promise<void> {
  await sql`
    update deliveries set leased_by = null, due_at = now() where leased_by = ${worker} and ${isLeased}
    ${acrossAccounts('leases')}`.execute(db);
}

/** A scrape must not read a backlog of millions. */
const mostCounted = 100_000;

/** Deliveries that are due, and those that wait for their time or their answer. Of a long queue only a part is counted. */
export async function countQueue(db: Db): Promise<{ due: number; later: number }> {
  const { rows } = await sql<{ due: number; later: number }>`
    select count(*) filter (where due_at <= now()) as due, count(*) filter (where due_at > now()) as later
    from (select due_at from deliveries where state = 'pending' limit ${mostCounted}) as pending
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
