// Limits how many tasks run at once; the others wait in the order in which they came.

export type Limit = <T>(work: () => Promise<T>) => Promise<T>;

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
