// The counters of the rate limits. They are in the database, so that all instances share them.
import { sql } from 'kysely';
import { Overloaded } from '../faults.ts';
import { createBatches } from '../rules/async.ts';
import { createClosed } from '../rules/closed.ts';
import { amongOthers, type Deadline } from './connection.ts';
import type { Db, Owner } from './database.ts';

export interface RateLimit {
  scope: string;
  limit: number;
  windowSeconds: number;
}

/** Whose request it is, and how long it may still wait for the database. */
export interface Calling {
  owner: Owner;
  deadline: Deadline;
}

/** Waits for a statement that is sent for several requests, as long as this one may. Alone it would have had an answer by then. */
export async function waitForAll<T>({ deadline }: Calling, work: () => Promise<T>): Promise<T> {
  let late: unknown;
  const giveUp = (error: unknown) => (late = error);
  try {
    return await amongOthers(deadline, work, giveUp);
  } catch (error) {
    throw error === late ? new Overloaded('too many requests are counted at once') : error;
  }
}

/** Counts one call. Undefined when it is within the limit, otherwise the milliseconds until the window ends. */
export type RecordCall = (calling: Calling, limit: RateLimit, key: string) => Promise<number | undefined>;

/**
 * A commit may take 20 ms, and one caller can send hundreds of calls at once. So in each instance a counter has one statement under way,
 * and the next one counts all calls that came meanwhile. What is over its limit is remembered.
 */
export function createRecordCall(dbOf: (owner: Owner) => Db): RecordCall {
  const closed = createClosed();
  const count = createBatches<[Calling, RateLimit, string], number | undefined>(async (calls) => {
    const [first] = calls;
    if (!first) return [];
    const [{ owner }, limit, key] = first;
    const asked = performance.now();
    const { points, left } = await recordCalls(dbOf(owner), limit, key, calls.length);
    if (points > limit.limit) closed.add(key, left, asked);
    // These calls are the last points, in the order of arrival.
    const before = points - calls.length;
    return calls.map((_, index) => (before + index < limit.limit ? undefined : left));
  });
  return async (calling, limit, name) => {
    const key = `${limit.scope}:${name}`;
    const left = closed.left(key);
    if (left === undefined) return waitForAll(calling, () => count(key, [calling, limit, key]));
    await closed.holdBack(calling.owner.keyPair);
    return left;
  };
}

async function recordCalls(db: Db, { windowSeconds }: RateLimit, key: string, calls: number) {
  const window = sql`${windowSeconds * 1000}::bigint`;
  // By the clock of the database: with the clocks of instances, which differ, one would end the window of another at once.
  const { rows } = await sql<{ points: number; left: number }>`
    insert into rate_limits as counter (key, points, expire)
    values (${key}, ${calls}, (extract(epoch from now()) * 1000)::bigint + ${window})
    on conflict (key) do update set
      points = case when counter.expire <= excluded.expire - ${window} then 0 else counter.points end + excluded.points,
      expire = case when counter.expire <= excluded.expire - ${window} then excluded.expire else counter.expire end
    returning points, (expire - extract(epoch from now()) * 1000)::integer as left`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('The database did not count.');
  return row;
}
