import { describe, expect, it } from 'vitest';
import { createCache } from '../../server/http/cache.ts';

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
});
