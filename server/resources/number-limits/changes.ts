// Counts numbers for many requests at once. In each instance a bucket has one statement under way, and a closed one is remembered:
// see database/rate-limits.ts.
import type { Db, Owner } from '../../kit/database/database.ts';
import { waitForAll, type Calling } from '../../kit/database/rate-limits.ts';
import { createBatches } from '../../kit/rules/async.ts';
import { createClosed } from '../../kit/rules/closed.ts';
import { recordNumbers, findWait } from './queries.ts';
import type { NumberLimit, TriedNumber } from './rules.ts';

/** Undefined for a number that is within the limit, otherwise the milliseconds until a new one will be. */
type Wait = number | undefined;

export interface NumberBuckets {
  record: (calling: Calling, numbers: readonly TriedNumber[], limit: NumberLimit) => Promise<Wait[]>;
  /** The same for one number, without counting it. */
  find: (calling: Calling, number: TriedNumber, limit: NumberLimit) => Promise<Wait>;
}

export function createNumberBuckets(dbOf: (owner: Owner) => Db): NumberBuckets {
  const closed = createClosed();
  const remember = (numbers: readonly TriedNumber[], waits: readonly Wait[], asked: number) => {
    for (const [index, { bucket }] of numbers.entries()) {
      const wait = waits[index];
      if (wait !== undefined) closed.add(bucket, wait, asked);
    }
  };
  const countAll = createBatches<[Calling, readonly TriedNumber[], NumberLimit], Wait[]>(async (requests) => {
    const [first] = requests;
    if (!first) return [];
    const [{ owner }, , limit] = first;
    const asked = performance.now();
    const numbers = requests.flatMap(([, own]) => own);
    const waits = await recordNumbers(dbOf(owner), numbers, limit);
    remember(numbers, waits, asked);
    let next = 0;
    return requests.map(([, own]) => waits.slice(next, (next += own.length)));
  });
  const findForAll = createBatches<[Calling, TriedNumber, NumberLimit], Wait>(async (requests) => {
    const [first] = requests;
    if (!first) return [];
    const [{ owner }, number, limit] = first;
    const asked = performance.now();
    const wait = await findWait(dbOf(owner), number, limit);
    remember([number], [wait], asked);
    return requests.map(() => wait);
  });
  return {
    record: async (calling, numbers, limit) => {
      const known = numbers.map(({ bucket }) => closed.left(bucket));
      const left = numbers.filter((_, index) => known[index] === undefined);
      const [only] = left;
      if (left.length < numbers.length) await closed.holdBack(calling.owner.keyPair);
      if (!only) return known;
      // Several buckets would need several queues, so they have that of their account.
      const key = left.length === 1 ? `bucket ${only.bucket}` : `account ${calling.owner.account ?? ''}`;
      const counted = await waitForAll(calling, () => countAll(key, [calling, left, limit]));
      return known.map((wait) => wait ?? counted.shift());
    },
    find: async (calling, number, limit) => {
      const wait = closed.left(number.bucket);
      if (wait === undefined)
        return waitForAll(calling, () => findForAll(number.bucket, [calling, number, limit]));
      await closed.holdBack(calling.owner.keyPair);
      return wait;
    },
  };
}
