// Limits how many tasks run at once; the others wait in the order in which they came.

type Limit = <T>(work: () => Promise<T>) => Promise<T>;

export function createLimit(max: number): Limit {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= max) await new Promise<void>((start) => waiting.push(start));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The slot goes to the next waiting task directly, so that a new task cannot overtake it.
      if (next) next();
      else running -= 1;
    }
  };
}

export type KeyedLimit = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** A limit for each key. Keys without tasks take no memory. */
export function createKeyedLimit(max: number): KeyedLimit {
  const byKey = new Map<string, { limit: Limit; tasks: number }>();
  return async (key, work) => {
    const entry = byKey.get(key) ?? { limit: createLimit(max), tasks: 0 };
    byKey.set(key, entry);
    entry.tasks += 1;
    try {
      return await entry.limit(work);
    } finally {
      entry.tasks -= 1;
      if (entry.tasks === 0) byKey.delete(key);
    }
  };
}
