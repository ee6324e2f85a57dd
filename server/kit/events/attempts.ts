// Records attempts at deliveries: the lease ends, and a subscription that has failed for too long is switched off.
import { sql } from 'kysely';
import type { Tx } from '../database/database.ts';
import { groupByAccount } from '../rules/accounts.ts';
import { earlier, type DatabaseTime } from '../rules/database-time.ts';
import type { LeasedDelivery } from './deliveries.ts';

export interface Attempt {
  delivery: LeasedDelivery;
  at: DatabaseTime;
  status: number | null;
  milliseconds: number;
  error: string | null;
  /** The beginning of what the receiver said with a status other than 2xx. */
  answer: string | null;
  state: 'succeeded' | 'pending' | 'failed';
  /** Seconds until the next attempt; undefined when there is none. */
  wait: number | undefined;
  traceId: string | undefined;
}

/**
 * Records attempts and ends their leases. Lost are those whose delivery was deleted or leased by another worker meanwhile. A delivery
 * that somebody has locked is not waited for: the caller tries again.
 */
export async function recordAttempts(
  tx: Tx,
  now: DatabaseTime,
  worker: string,
  attempts: readonly Attempt[],
) {
  const recorded = new Set<string>();
  for (const [account, own] of groupByAccount(attempts, ({ delivery }) => delivery.merchant_account_id))
    for (const id of await recordOf(tx, worker, account, own)) recorded.add(id);
  const lost: Attempt[] = [];
  const locked: Attempt[] = [];
  for (const attempt of attempts.filter(({ delivery }) => !recorded.has(delivery.id)))
    if (await isLeasedBy(tx, worker, attempt)) locked.push(attempt);
    else lost.push(attempt);
  const ended = attempts.filter((attempt) => !locked.includes(attempt));
  return {
    recorded: attempts.filter(({ delivery }) => recorded.has(delivery.id)),
    lost,
    locked,
    switchedOff: await recordFailures(tx, now, ended),
  };
}

async function isLeasedBy(tx: Tx, worker: string, { delivery }: Attempt): Promise<boolean> {
  const { rows } = await sql`
    select from deliveries
    where merchant_account_id = ${delivery.merchant_account_id} and id = ${delivery.id}
      and leased_by = ${worker}`.execute(tx);
  return rows.length > 0;
}

/**
 * Returns the IDs of the deliveries. One that was replayed meanwhile is due again. All of an account are in one statement, because
 * statements are most of what a delivery costs.
 */
async function recordOf(
  tx: Tx,
  worker: string,
  account: string,
  attempts: readonly Attempt[],
): Promise<string[]> {
  const ids = attempts.map(({ delivery }) => delivery.id);
  // Not joined with the values: the FROM of an update has no functions on Citus.
  const of = (type: 'integer' | 'text' | 'float8', values: readonly unknown[]) =>
    sql`(${values}::${sql.raw(type)}[])[array_position(${ids}::uuid[], id)]`;
  const befores = attempts.map(({ delivery }) => delivery.attempts_before);
  const isReplayed = sql`attempts_before <> ${of('integer', befores)}`;
  const states = attempts.map(({ state }) => state);
  const waits = attempts.map(({ wait = 0 }) => wait);
  const { rows } = await sql<{ id: string }>`
    with recorded as (
      update deliveries set attempts = attempts + 1, updated_at = now(), leased_by = null,
        state = case when ${isReplayed} then 'pending' else ${of('text', states)} end,
        due_at = now() + make_interval(secs => case when ${isReplayed} then 0 else ${of('float8', waits)} end)
      where merchant_account_id = ${account} and id in (
        select id from deliveries
        where merchant_account_id = ${account} and id = any(${ids}::uuid[]) and leased_by = ${worker}
        for no key update skip locked)
      returning id, attempts
    )
    insert into delivery_attempts (merchant_account_id, delivery_id, number, at, status, milliseconds, error, answer)
    select ${account}::text, id, attempts, at, status, milliseconds, error, answer from recorded join unnest(
      ${ids}::uuid[],
      ${attempts.map(({ at }) => at.toISOString())}::timestamptz[],
      ${attempts.map(({ status }) => status)}::integer[],
      ${attempts.map(({ milliseconds }) => milliseconds)}::integer[],
      ${attempts.map(({ error }) => error)}::text[],
      ${attempts.map(({ answer }) => answer)}::text[])
      as attempt (id, at, status, milliseconds, error, answer)
      using (id)
    returning delivery_id as id`.execute(tx);
  return rows.map(({ id }) => id);
}

/**
 * In the order in which they ended: a success ends earlier failures, and a failure after it begins anew. Returns the subscriptions
 * that it switched off.
 */
async function recordFailures(tx: Tx, now: DatabaseTime, attempts: readonly Attempt[]): Promise<string[]> {
  if (attempts.length === 0) return [];
  const subscriptionOf = ({ delivery }: Attempt) => delivery.subscription_id;
  const { rows } = await sql<{ id: string }>`
    select id from webhook_subscriptions
    where id = any(${[...new Set(attempts.map(subscriptionOf))]}::uuid[])
      and failing_since is not null`.execute(tx);
  const failing = new Set(rows.map(({ id }) => id));
  const switchedOff: string[] = [];
  // Two workers may change the same subscriptions. The same order prevents a deadlock.
  for (const attempt of attempts.toSorted((a, b) => subscriptionOf(a).localeCompare(subscriptionOf(b)))) {
    const id = subscriptionOf(attempt);
    if (attempt.state === 'succeeded') {
      // Only the first success after a failure writes the row of the subscription.
      if (failing.has(id))
        await sql`update webhook_subscriptions set failing_since = null where id = ${id}`.execute(tx);
      failing.delete(id);
    } else {
      failing.add(id);
      const isSwitchedOff = await recordFailure(tx, attempt, now);
      if (isSwitchedOff) switchedOff.push(id);
    }
  }
  return switchedOff;
}

/** Switches the subscription off if it answered 410, or has only failed for five days. Returns whether it did. */
async function recordFailure(tx: Tx, { delivery, status }: Attempt, now: DatabaseTime): Promise<boolean> {
  // Only the first failure and the one that switches the subscription off update the row; the others do not lock it.
  // Citus refuses `now()` inside of `coalesce` and `case`, so the time is a value.
  const limit = earlier(now, 1000 * switchOffAfterSeconds);
  const off = sql<boolean>`(${status === 410} or coalesce(failing_since <= ${limit}, false))`;
  const { rows } = await sql<{ off: boolean }>`
    update webhook_subscriptions set
      failing_since = coalesce(failing_since, ${now}),
      active = not ${off},
      updated_at = case when ${off} then greatest(updated_at, ${now}) else updated_at end
    where id = ${delivery.subscription_id} and active and (failing_since is null or ${off})
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

export const switchOffAfterSeconds = 5 * 24 * hour;

const longestRetryAfter = 24 * hour;

/**
 * Seconds until the next attempt after `attempts` have failed; undefined after the last one. `random`, from 0 to 1, makes
 * the wait up to 10 % shorter or longer, so that a receiver does not get all retries at once.
 */
export function nextWait(
  attempts: number,
  retryAfter: number | undefined,
  random = Math.random(),
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
