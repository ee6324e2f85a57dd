// Which limits are reached, in the memory of this process. Whoever goes on is refused without a statement.
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
  /** Before a refusal from memory. */
  holdBack: HoldBack;
}

/** The more of a key pair are held, the longer, whatever others do. As long as there are no more than `atOnce`, none of them waits. */
type HoldBack = (keyPair: string, atOnce?: number) => Promise<void>;

/** For refusals: otherwise one caller gets thousands of them a second, and all others wait for the CPU. */
export function createHoldBack(): HoldBack {
  const held = new Map<string, number>();
  const count = (keyPair: string, more: number) => {
    const all = (held.get(keyPair) ?? 0) + more;
    if (all > 0) held.set(keyPair, all);
    else held.delete(keyPair);
    return all;
  };
  return async (keyPair, atOnce = 0) => {
    const own = count(keyPair, 1);
    const milliseconds = Math.min(hold.most, hold.least + own * hold.forEachHeld);
    const ended = new Promise((end) => setTimeout(end, milliseconds)).then(() => count(keyPair, -1));
    if (own > atOnce) await ended;
  };
}

export function createClosed(): Closed {
  const cache = createCache<number>(mostRemembered);
  return {
    left(key) {
      const now = performance.now();
      const opens = cache.get(key, now);
      return opens === undefined ? undefined : opens - now;
    },
    add(key, left, asked) {
      cache.set(key, asked + left, asked + Math.min(left, longestMilliseconds));
    },
    holdBack: createHoldBack(),
  };
}
