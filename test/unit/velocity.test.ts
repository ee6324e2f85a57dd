import { describe, expect, it } from 'vitest';
import { tooMany } from '../../server/kit/http/limits.ts';
import { deriveKeys } from '../../server/kit/secrets/derive-keys.ts';
import { triedNumber, triedPin } from '../../server/resources/number-limits/rules.ts';

const [keys, others] = [deriveKeys(Buffer.alloc(32, 1)), deriveKeys(Buffer.alloc(32, 2))];

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

describe('the limit', () => {
  it.each([
    [0, '1'],
    [60_000, '60'],
    [60_001, '61'],
  ])('is said in whole seconds: a caller that waits for so long comes after %i ms', (left, seconds) => {
    expect(tooMany(left, '').facts.headers).toEqual({ 'Retry-After': seconds });
  });
});
