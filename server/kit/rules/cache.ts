// What a process remembers for a while. A cache has a maximum size and an expiry time per entry, by the clock of the caller:
// `performance.now()`, unless it expires at a date. When it is full, the oldest entry is evicted (a Map keeps the order of insertion).
import { createSingleFlight } from './async.ts';

/** Of all keys together, because callers choose how long some are: ten thousand tokens of 8 kB would take 80 MB. */
export const mostCharacters = 10_000_000;

export interface Cache<Value> {
  get: (key: string, now: number) => Value | undefined;
  set: (key: string, value: Value, until: number) => void;
  size: () => number;
}

export function createCache<Value>(maxSize: number): Cache<Value> {
  const entries = new Map<string, { value: Value; until: number }>();
  let characters = 0;
  const forget = (key: string) => {
    if (entries.delete(key)) characters -= key.length;
  };
  return {
    get(key, now) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      if (now < entry.until) return entry.value;
      forget(key);
      return undefined;
    },
    set(key, value, until) {
      forget(key);
      entries.set(key, { value, until });
      characters += key.length;
      for (const oldest of entries.keys()) {
        if (entries.size <= maxSize && characters <= mostCharacters) break;
        forget(oldest);
      }
    },
    size: () => entries.size,
  };
}

/** Looks something up, once for all who ask meanwhile, and remembers it from then on. What was not found is not remembered. */
export type LookUp<Value> = (
  key: string,
  look: () => Promise<Value | undefined>,
  lane?: string,
) => Promise<Value | undefined>;

export function createLookUp<Value>(maxSize: number, milliseconds: number): LookUp<Value> {
  const cache = createCache<Value>(maxSize);
  const lookOnce = createSingleFlight<Value | undefined>();
  return async (key, look, lane = '') => {
    const known = cache.get(key, performance.now());
    if (known !== undefined) return known;
    return lookOnce(lane + key, async () => {
      const found = await look();
      if (found !== undefined) cache.set(key, found, performance.now() + milliseconds);
      return found;
    });
  };
}
