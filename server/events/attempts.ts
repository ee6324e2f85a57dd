// Records attempts at deliveries: the lease ends, and a subscription that has failed for too long is switched off.
import { sql } from 'kysely';
import type { Tx } from '../database/database.ts';
import type { LeasedDelivery } from './deliveries.ts';

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
  lost: Map<string, 'erased' | 'deleted' | 'leased by another worker' | 'locked'>;
  /** Subscriptions. */
  switchedOff: string[];
}

/** Records attempts and ends their leases. */
export async function recordAttempts(tx: Tx, worker: string, made: readonly Attempted[]): Promise<Recorded> {
  const accounts = new Set(made.map(({ delivery }) => delivery.merchant_account_id));
  const recorded = new Set<string>();
  for (const account of [...accounts].sort()) {
    const own = made.filter(({ delivery }) => delivery.merchant_account_id === account);
    for (const id of await recordOf(tx, worker, account, own)) recorded.add(id);
  }
  const lost = await findLost(
    tx,
    worker,
    made.map(({ delivery }) => delivery).filter(({ id }) => !recorded.has(id)),
  );
  return { lost, switchedOff: await recordOutcomes(tx, made) };
}

/** A delivery is deleted with its subscription, or by `payments buyers erase`. */
async function findLost(
  tx: Tx,
  worker: string,
  unrecorded: readonly Attempted['delivery'][],
): Promise<Recorded['lost']> {
  const lost: Recorded['lost'] = new Map();
  for (const { merchant_account_id: account, id, subscription_id } of unrecorded) {
    const { rows } = await sql<{ leasedBy: string | null }>`
      select leased_by as "leasedBy" from deliveries
      where merchant_account_id = ${account} and id = ${id}`.execute(tx);
    const { rows: subscriptions } = await sql`
      select from webhook_subscriptions where id = ${subscription_id}`.execute(tx);
    const [there] = rows;
    if (there) lost.set(id, there.leasedBy === worker ? 'locked' : 'leased by another worker');
    else lost.set(id, subscriptions.length > 0 ? 'erased' : 'deleted');
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
  const { rows } = await sql<{ id: string }>`
    with recorded as (
      update deliveries set attempts = attempts + 1, updated_at = now(), leased_by = null,
        state = case when attempts_before = ${before} then ${states} else 'pending' end,
        due_at = now() + case when attempts_before = ${before} then make_interval(secs => ${waits}) else '0' end
      where merchant_account_id = ${account} and id in (
        select id from deliveries
        where merchant_account_id = ${account} and id = any(${ids}::uuid[]) and leased_by = ${worker}
        for no key update skip locked)
      returning id, attempts
    )
    insert into delivery_attempts (merchant_account_id, delivery_id, number, at, status, milliseconds, error, answer)
    select ${account}::text, id, attempts, at, status, milliseconds, error, answer from recorded join unnest(
      ${ids}::uuid[],
      ${made.map(({ attempt }) => attempt.at.toISOString())}::timestamptz[],
      ${made.map(({ attempt }) => attempt.status)}::integer[],
      ${made.map(({ attempt }) => attempt.milliseconds)}::integer[],
      ${made.map(({ attempt }) => attempt.error)}::text[],
      ${made.map(({ attempt }) => attempt.answer)}::text[])
      as attempt (id, at, status, milliseconds, error, answer)
      using (id)
    returning delivery_id as id`.execute(tx);
  return rows.map(({ id }) => id);
}

/** In the order in which they ended: a success ends earlier failures, and a failure after it begins anew. */
async function recordOutcomes(tx: Tx, made: readonly Attempted[]): Promise<string[]> {
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
  for (const [id, failure] of failed) if (await recordFailure(tx, id, failure)) switchedOff.push(id);
  return switchedOff;
}

/** Switches the subscription off if it answered 410, or has only failed for five days. Returns whether it did. */
async function recordFailure(tx: Tx, id: string, { outcome, attempt: { at } }: Attempted): Promise<boolean> {
  // Only the first failure and the one that switches the subscription off update the row; the others do not lock it.
  const limit = new Date(at.getTime() - switchOffAfterMilliseconds);
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

// When a failed delivery is retried: a fixed backoff schedule with jitter, and the receiver's Retry-After up to one day.

const second = 1;
const minute = 60 * second;
const hour = 60 * minute;

/** Seconds to wait before each attempt. */
export const waits = [
  0,
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

export const switchOffAfterMilliseconds = 5 * 24 * hour * 1000;

const longestRetryAfter = 24 * hour;

/**
 * Seconds until the next attempt after `attempts` have failed; undefined after the last one. `random`, from 0 to 1, makes
 * the wait up to 10 % shorter or longer, so that a receiver does not get all retries at once.
 */
export function nextWait(
  attempts: number,
  retryAfter: number | undefined,
  random: number,
): number | undefined {
  const wait = waits[attempts];
  if (wait === undefined) return undefined;
  const jittered = wait * (0.9 + 0.2 * random);
  return retryAfter === undefined ? jittered : Math.max(jittered, Math.min(retryAfter, longestRetryAfter));
}

/** Retry-After in seconds: a number, or an HTTP date. */
export function readRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now.getTime()) / 1000);
}

export const withJitter = (attempts: number, retryAfter: number | undefined): number | undefined =>
  nextWait(attempts, retryAfter, Math.random());
