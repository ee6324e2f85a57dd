// A bounded cache whose entries end at a given time; the one that was set first goes first. A Map keeps that order.

export interface Cache<Value> {
  get: (key: string, now: number) => Value | undefined;
  set: (key: string, value: Value, until: number) => void;
  size: () => number;
}

export function createCache<Value>(most: number): Cache<Value> {
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
      const [oldest] = entries.keys();
      if (entries.size > most && oldest !== undefined) entries.delete(oldest);
    },
    size: () => entries.size,
  };
}
