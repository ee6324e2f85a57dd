// Work that many requests share.
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBatches } from '../../server/kit/rules/async.ts';
import { createLookUp } from '../../server/kit/rules/cache.ts';
import { runs } from '../support/random.ts';

describe('batches', () => {
  it('one at a time for a key, in the order of arrival, each item once', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            key: fc.constantFrom('a', 'b'),
            pause: fc.integer({ min: 0, max: 3 }),
            takes: fc.integer({ min: 0, max: 4 }),
          }),
          { maxLength: 30 },
        ),
        async (asked) => {
          const underWay = new Set<string>();
          const served: Record<string, number[]> = { a: [], b: [] };
          const serve = createBatches(
            async (items: readonly { key: string; index: number; takes: number }[]) => {
              const [{ key, takes } = { key: '', takes: 0 }] = items;
              expect(underWay).not.toContain(key);
              underWay.add(key);
              served[key]?.push(...items.map(({ index }) => index));
              for (let turn = 0; turn < takes; turn += 1) await setImmediate();
              underWay.delete(key);
              return items.map(({ index }) => index);
            },
          );
          const results = [];
          for (const [index, { key, pause, takes }] of asked.entries()) {
            for (let turn = 0; turn < pause; turn += 1) await setImmediate();
            results.push(serve(key, { key, index, takes }));
          }
          expect(await Promise.all(results)).toEqual(asked.map((_, index) => index));
          for (const [key, order] of Object.entries(served))
            expect(order).toEqual(
              [...asked.entries()].flatMap(([index, one]) => (one.key === key ? [index] : [])),
            );
        },
      ),
      { numRuns: runs(50) },
    ));

  it('whoever comes while one is under way is in the next, all together, and a failure is that of its own batch', async () => {
    const sizes: number[] = [];
    const serve = createBatches(async (items: readonly number[]) => {
      sizes.push(items.length);
      await setImmediate();
      if (items.includes(0)) throw new Error('the first one fails');
      return items;
    });
    const first = serve('key', 0);
    await Promise.resolve();
    const others = [1, 2, 3].map((item) => serve('key', item));
    await expect(first).rejects.toThrow('the first one fails');
    expect(await Promise.all(others)).toEqual([1, 2, 3]);
    expect(sizes).toEqual([1, 3]);
  });
});

describe('a look-up', () => {
  it('is one for all who ask meanwhile, and is remembered from when it was answered', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const lookUp = createLookUp<string>(10, 2_000);
    const answers: ((found: string | undefined) => void)[] = [];
    const look = () => new Promise<string | undefined>((resolve) => answers.push(resolve));
    const asked = [lookUp('key', look), lookUp('key', look)];
    // The answer takes longer than it is remembered.
    vi.advanceTimersByTime(3_000);
    asked.push(lookUp('key', look));
    answers[0]?.('found');
    expect(await Promise.all(asked)).toEqual(['found', 'found', 'found']);
    vi.advanceTimersByTime(1_999);
    expect(await lookUp('key', look)).toBe('found');
    expect(answers).toHaveLength(1);
    vi.advanceTimersByTime(1);
    const later = lookUp('key', look);
    answers[1]?.(undefined);
    expect(await later).toBeUndefined();
    void lookUp('key', look);
    expect(answers).toHaveLength(3);
  });
});
