// Which limits are reached, in the memory of this process. Whoever goes on is refused without a statement.
import { setTimeout as sleep } from 'node:timers/promises';
import { createCache } from './cache.ts';

const mostRemembered = 10_000;
/** Then the database is asked again: its clock decides when a limit opens, and the two do not run alike for a day. */
const longestMilliseconds = 10_000;
const hold = { least: 250, forEachHeld: 3, most: 1_000 };

export interface Closed {
  /** The milliseconds until it opens. Undefined if it is not known to be closed. */
  left: (key: string) => number | undefined;
  /** `asked`: when, by `performance.now()`, the database was asked. It answered later, so this does not end after the database's own time. */
  add: (key: string, left: number, asked: number) => void;
  /**
   * Before a refusal from memory: otherwise one caller gets thousands of them a second, and all others wait for the CPU. The more
   * of a key pair are held, the longer, whatever others do.
   */
  holdBack: (keyPair: string) => Promise<void>;
}

export function createClosed(): Closed {
  const cache = createCache<number>(mostRemembered);
  const held = new Map<string, number>();
  return {
    left(key) {
      const now = performance.now();
      const opens = cache.get(key, now);
      return opens === undefined ? undefined : opens - now;
    },
    add(key, left, asked) {
      cache.set(key, asked + left, asked + Math.min(left, longestMilliseconds));
    },
    async holdBack(keyPair) {
      const own = (held.get(keyPair) ?? 0) + 1;
      held.set(keyPair, own);
      await sleep(Math.min(hold.most, hold.least + own * hold.forEachHeld));
      const left = (held.get(keyPair) ?? 0) - 1;
      if (left > 0) held.set(keyPair, left);
      else held.delete(keyPair);
    },
  };
}
