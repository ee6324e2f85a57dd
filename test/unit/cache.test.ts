import { describe, expect, it } from 'vitest';
import { createCache, mostCharacters } from '../../server/kit/rules/cache.ts';

describe('a cache', () => {
  it('has an entry until its time, and forgets it then', () => {
    const cache = createCache<string>(10);
    cache.set('a', 'x', 100);
    expect(cache.get('a', 99)).toBe('x');
    expect(cache.size()).toBe(1);
    expect(cache.get('a', 100)).toBeUndefined();
    expect(cache.size()).toBe(0);
    expect(cache.get('b', 0)).toBeUndefined();
  });

  it('evicts the entry that was set first when it is full', () => {
    const cache = createCache<number>(2);
    cache.set('a', 1, 100);
    cache.set('b', 2, 100);
    expect(cache.size()).toBe(2);
    // Set again, so that `b` is the oldest.
    cache.set('a', 3, 100);
    expect(cache.size()).toBe(2);
    cache.set('c', 4, 100);
    expect(['a', 'b', 'c'].map((key) => cache.get(key, 0))).toEqual([3, undefined, 4]);
    expect(cache.size()).toBe(2);
  });

  it('evicts the oldest entries, too, when all keys together are too long', () => {
    const cache = createCache<number>(1_000);
    const length = mostCharacters / 10;
    const keys = Array.from({ length: 11 }, (_, nth) => String(nth).padStart(length));
    for (const [nth, key] of keys.slice(0, 10).entries()) cache.set(key, nth, 100);
    // The same key again takes no more room.
    cache.set(keys[0] ?? '', 0, 100);
    expect(cache.size()).toBe(10);
    cache.set(keys[10] ?? '', 10, 100);
    expect(keys.map((key) => cache.get(key, 0))).toEqual([0, undefined, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    // What has expired leaves its room to others.
    expect(cache.get(keys[10] ?? '', 100)).toBeUndefined();
    cache.set(keys[1] ?? '', 1, 100);
    expect(cache.size()).toBe(10);
  });
});
