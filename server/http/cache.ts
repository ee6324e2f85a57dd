// A cache with a maximum size and an expiry time per entry, by the clock of the caller: `performance.now()`, unless it expires at
// a date. When it is full, the oldest entry is evicted (a Map keeps the order of insertion).

export interface Cache<Value> {
  get: (key: string, now: number) => Value | undefined;
  set: (key: string, value: Value, until: number) => void;
  size: () => number;
}

export function createCache<Value>(maxSize: number): Cache<Value> {
  const entries = new Map<string, { value: Value; until: number }>();
  return {
    get(key, now) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      if (now < entry.until) return entry.value;
      entries.delete(key);
      return undefined;
    },
    set(key, value, until) {
      entries.delete(key);
      entries.set(key, { value, until });
      for (const oldest of entries.keys()) {
        if (entries.size <= maxSize) break;
        entries.delete(oldest);
      }
    },
    size: () => entries.size,
  };
}
