// The limit on numbers that are alike, compared with a model in memory.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inTransaction, openDatabase, type Database, type Db } from '../../server/kit/database/database.ts';
import { recordNumbers, findWait } from '../../server/resources/number-limits/queries.ts';
import { createTestDatabase } from '../support/database.ts';
import { runs } from '../support/random.ts';
import { forgetNumbers } from '../support/records.ts';

const limit = { limit: 3, windowSeconds: 100 };

let database: Database;
beforeAll(async () => {
  const fail = (error: Error) => {
    throw error;
  };
  // However long many counts at the same time take on this machine.
  database = openDatabase(await createTestDatabase(), fail, { waitMilliseconds: 60_000 });
});
afterAll(() => database.close());

/** Buckets in memory: the wait in seconds, or undefined. */
function createModel() {
  const buckets = new Map<string, Map<string, number>>();
  const recent = (bucket: string, at: number) =>
    [...(buckets.get(bucket) ?? [])].filter(([, seen]) => seen > at - limit.windowSeconds);
  const wait = (bucket: string, at: number) => {
    const times = recent(bucket, at)
      .map(([, seen]) => seen)
      .sort((a, b) => a - b);
    // A new number passes when fewer than the limit are left.
    return times.length > limit.limit
      ? (times[times.length - limit.limit] ?? 0) + limit.windowSeconds - at
      : undefined;
  };
  const count = (bucket: string, number: string, at: number) => {
    const kept = recent(bucket, at);
    buckets.set(bucket, new Map(kept.length > limit.limit ? kept : [...kept, [number, at]]));
    return wait(bucket, at);
  };
  return { wait, count };
}

/** Names of their own, so that one table serves all cases. Time passes as rows get older: in a transaction the clock stands still. */
function createBuckets(db: Db) {
  const own = randomUUID();
  let time = 0;
  const passUntil = async (at: number) => {
    if (at !== time) await forgetNumbers(db, at - time);
    time = at;
  };
  const inSeconds = (wait: number | undefined) => wait && wait / 1000;
  const named = (bucket: string, number: string) => ({ bucket: `${own} ${bucket}`, number });
  return {
    count: async (tried: readonly [bucket: string, number: string][], at: number) => {
      await passUntil(at);
      const numbers = tried.map(([bucket, number]) => named(bucket, number));
      return (await recordNumbers(db, numbers, limit)).map(inSeconds);
    },
    look: async (bucket: string) => inSeconds(await findWait(db, named(bucket, ''), limit)),
  };
}

const inOneMoment = (work: (buckets: ReturnType<typeof createBuckets>) => Promise<void>) =>
  inTransaction(database.db, (tx) => work(createBuckets(tx)));

const tried = fc.tuple(fc.constantFrom('one', 'two', 'three'), fc.constantFrom('a', 'b', 'c', 'd', 'e'));
const step = fc.record({
  tried: fc.array(tried, { minLength: 1, maxLength: 6 }),
  pause: fc.integer({ min: 0, max: 60 }),
});

it('is that of the model, whatever is tried together, and looking changes nothing', () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), (steps) =>
      inOneMoment(async ({ count, look }) => {
        const model = createModel();
        let at = 0;
        for (const one of steps) {
          at += one.pause;
          const expected = one.tried.map(([bucket, number]) => model.count(bucket, number, at));
          expect(await count(one.tried, at)).toEqual(expected);
          for (const bucket of ['one', 'two']) expect(await look(bucket)).toBe(model.wait(bucket, at));
        }
      }),
    ),
    { numRuns: runs(50) },
  ));

it('counts different numbers, and the same number once', () =>
  inOneMoment(async ({ count }) => {
    const waits = [];
    for (const [second, number] of ['a', 'b', 'a', 'a', 'c', 'b', 'a'].entries())
      waits.push(...(await count([['bucket', number]], second)));
    expect(waits).toEqual(Array(7).fill(undefined));
    expect(await count([['bucket', 'd']], 10)).toEqual([95]);
  }));

it('closes for known numbers too, with the same answer, and opens when it says', () =>
  inOneMoment(async ({ count }) => {
    for (const [second, number] of ['a', 'b', 'c', 'd'].entries()) await count([['bucket', number]], second);
    for (const number of ['a', 'b', 'd', 'e', 'f'])
      expect(await count([['bucket', number]], 10)).toEqual([91]);
    expect(await count([['bucket', 'e']], 100.5)).toEqual([1.5]);
    expect(await count([['bucket', 'e']], 101)).toEqual([undefined]);
  }));

it('a time that is ahead, of an instance of 1.1.0 with a wrong clock, counts as now', () =>
  inOneMoment(async ({ count }) => {
    for (const number of ['a', 'b', 'c', 'd']) await count([['bucket', number]], 0);
    const now = -4 * 86_400;
    expect(await count([['bucket', 'e']], now)).toEqual([100]);
    expect(await count([['bucket', 'e']], now + 100)).toEqual([undefined]);
  }));

it('holds for any number of guesses at the same time, on several connections', async () => {
  const { count } = createBuckets(database.db);
  const guesses = Array.from({ length: 60 }, (_, index) => count([['bucket', `guess ${index}`]], 0));
  const passed = (await Promise.all(guesses)).filter(([wait]) => wait === undefined);
  expect(passed).toHaveLength(limit.limit);
});

it('does not deadlock when requests have the same buckets in other orders', async () => {
  const { count } = createBuckets(database.db);
  const buckets = Array.from({ length: 10 }, (_, index) => String(index));
  await Promise.all(
    Array.from({ length: 40 }, (_, index) => {
      const order = index % 2 === 0 ? buckets : buckets.toReversed();
      return count(
        order.map((bucket) => [bucket, 'a']),
        0,
      );
    }),
  );
});
