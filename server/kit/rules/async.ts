// Ways to do work: at the first use, shared with others, with a deadline, or in slices.
import { setImmediate } from 'node:timers/promises';

export function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** Runs `work`, unless work for the same key is under way: then the caller shares its result. */
type SingleFlight<Result> = (key: string | null, work: () => Promise<Result>) => Promise<Result>;

export function createSingleFlight<Result>(): SingleFlight<Result> {
  const underWay = new Map<string | null, Promise<Result>>();
  return (key, work) => {
    const working = underWay.get(key) ?? work().finally(() => underWay.delete(key));
    underWay.set(key, working);
    return working;
  };
}

/** Does the work for an item, together with others of the same key. */
type Batches<Item, Result> = (key: string, item: Item) => Promise<Result>;

/**
 * At most one `work` for a key is under way. Whoever comes meanwhile is served by the next one, all together: it gets their items in the
 * order of arrival, and returns a result for each.
 */
export function createBatches<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
): Batches<Item, Result> {
  interface Batch {
    items: Item[];
    isUnderWay: boolean;
    results?: Promise<readonly Result[]>;
  }
  const batches = new Map<string, Batch>();
  const run = async (key: string, batch: Batch, before: Batch | undefined) => {
    // If it failed, those who were in it know.
    await before?.results?.catch(() => undefined);
    batch.isUnderWay = true;
    try {
      return await work(batch.items);
    } finally {
      if (batches.get(key) === batch) batches.delete(key);
    }
  };
  return async (key, item) => {
    const last = batches.get(key);
    const batch = last && !last.isUnderWay ? last : { items: [], isUnderWay: false };
    const index = batch.items.push(item) - 1;
    batches.set(key, batch);
    batch.results ??= run(key, batch, last);
    const results = await batch.results;
    return results[index] as Result;
  };
}

/** Waits for `work`, but not longer than this. True when it was done in time. Its failure is a failure of this. */
export async function isDoneWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => {
      resolve(false);
    }, milliseconds);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

// Long work on many values, with pauses in which the process does what else is due: statements are sent and answers are read, so
// that the database is busy at the same time.

/** About two milliseconds of work on transactions. */
const sliceSize = 25;

export async function inSlices<Value>(
  values: Iterable<Value>,
  use: (value: Value, index: number) => void,
): Promise<void> {
  let index = 0;
  for (const value of values) {
    use(value, index);
    index += 1;
    if (index % sliceSize === 0) await setImmediate();
  }
}

/** How long a provider gets for a whole call. It is called before the unit of work, never inside a database transaction. */
const deadlineMilliseconds = 5_000;

/** Rejects with a TimeoutError, like `AbortSignal.timeout`, at the deadline, also when the provider ignores its signal. */
export async function withDeadline<T>(
  call: (signal: AbortSignal) => Promise<T>,
  milliseconds = deadlineMilliseconds,
): Promise<T> {
  const controller = new AbortController();
  const called = call(controller.signal);
  if (await isDoneWithin(milliseconds, called)) return called;
  const late = new DOMException(`no answer within ${milliseconds} ms`, 'TimeoutError');
  controller.abort(late);
  throw late;
}
