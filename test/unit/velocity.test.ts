import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tooMany } from '../../server/http/limits.ts';
import {
  judgeNumber,
  triedNumber,
  triedPin,
  type NumberLimit,
} from '../../server/resources/card-numbers/rules.ts';
import { deriveKeys } from '../../server/secrets/derive-keys.ts';

const [keys, others] = [deriveKeys(Buffer.alloc(32, 1)), deriveKeys(Buffer.alloc(32, 2))];
const limit: NumberLimit = { limit: 3, windowSeconds: 100 };

describe('numbers are alike', () => {
  it.each([
    ['4242424200004242', '4242424299994242', true],
    // 19 digits: the API does not show how long a number is.
    ['4242424200004242', '4242424299999994242', true],
    ['4242424200004242', '4242424200004243', false],
    ['4242424200004242', '4242424300004242', false],
    // 15 digits: the API shows six.
    ['378282000010005', '378282999910005', true],
    ['378282000010005', '378283000010005', false],
  ])('%s and %s: %s', (one, two, isAlike) => {
    expect(triedNumber(keys, one).bucket === triedNumber(keys, two).bucket).toBe(isAlike);
    expect(triedNumber(keys, one).number).not.toBe(triedNumber(keys, two).number);
  });

  it('only within an account, which has keys of its own', () => {
    const card = { number: '4242424242424242', pin: '1234' };
    const digests = [keys, others]
      .flatMap((of) => [triedNumber(of, card.number), triedPin(of, card)])
      .flatMap(({ bucket, number }) => [bucket, number]);
    expect(new Set(digests).size).toBe(8);
  });
});

/** The table of tried numbers, in memory. */
function createBucket() {
  const seen = new Map<string, Date>();
  return (number: string, seconds: number) => {
    const now = new Date(seconds * 1000);
    const inWindow = [...seen]
      .map(([one, at]) => ({ number: one, at }))
      .filter(({ at }) => at.getTime() > now.getTime() - limit.windowSeconds * 1000);
    const verdict = judgeNumber(inWindow, number, now, limit);
    if (verdict.passes || verdict.notes) seen.set(number, now);
    return verdict;
  };
}

describe('the limit', () => {
  it('counts different numbers, and the same number once', () => {
    const attempt = createBucket();
    const passes = ['a', 'b', 'a', 'a', 'c', 'b', 'a'].map((one, second) => attempt(one, second).passes);
    expect(passes).not.toContain(false);
    expect(attempt('d', 10)).toMatchObject({ passes: false });
  });

  it('closes for known numbers too, with the same answer', () => {
    const attempt = createBucket();
    for (const [second, one] of ['a', 'b', 'c', 'd'].entries()) attempt(one, second);
    const answers = ['a', 'b', 'd', 'e', 'f'].map((one) => attempt(one, 10));
    // A new number is accepted when `a` and `b` are older than the window.
    expect(new Set(answers.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify({ passes: false, notes: false, retryMilliseconds: 91_000 })]),
    );
  });

  it('opens when it says', () => {
    const attempt = createBucket();
    for (const [second, one] of ['a', 'b', 'c', 'd'].entries()) attempt(one, second);
    expect(attempt('e', 100.9)).toMatchObject({ passes: false });
    expect(attempt('e', 101)).toEqual({ passes: true });
  });

  it.each([
    [0, '1'],
    [60_000, '60'],
    [60_001, '61'],
  ])('is said in whole seconds: a caller that waits for so long comes after %i ms', (left, seconds) => {
    expect(tooMany(left, '').facts.headers).toEqual({ 'Retry-After': seconds });
  });

  it('lets at most that many different numbers pass in any window', () => {
    const step = fc.record({
      number: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      pause: fc.integer({ min: 0, max: 60 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const attempt = createBucket();
        const passed: { number: string; at: number }[] = [];
        let at = 0;
        for (const { number, pause } of steps) {
          at += pause;
          if (attempt(number, at).passes) passed.push({ number, at });
          const recent = passed.filter((one) => one.at > at - limit.windowSeconds);
          expect(new Set(recent.map((one) => one.number)).size).toBeLessThanOrEqual(limit.limit);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('tells of at most one number more whether it is known', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(1000), { minLength: 30, maxLength: 60 }), (guesses) => {
        const attempt = createBucket();
        attempt('victim', 0);
        const answers = guesses.map((guess) => attempt(`guess ${guess}`, 1).passes);
        expect(answers.filter(Boolean)).toHaveLength(limit.limit - 1);
        // After the first refusal even the right guess is refused.
        expect(attempt('victim', 2).passes).toBe(false);
      }),
    );
  });
});
