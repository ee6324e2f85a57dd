import creditCardType from 'credit-card-type';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasCardNumber, maskCardNumbers, passesLuhn, patterns } from '../../server/kit/rules/card-numbers.ts';
import { sandboxCards } from '../../server/providers/simulated.ts';
import {
  askLibrary,
  binOf,
  hasExpired,
  lastFour,
  schemeOf,
  unusable,
} from '../../server/resources/payment-methods/rules.ts';
import { cpuMilliseconds } from '../support/cpu.ts';
import { runs } from '../support/random.ts';

describe('check digits', () => {
  it('exactly one of the ten possible last digits is right', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{12,18}$/), (start) => {
        const right = Array.from({ length: 10 }, (_, digit) => passesLuhn(`${start}${digit}`)).filter(
          Boolean,
        );
        expect(right).toHaveLength(1);
      }),
    );
  });

  it('a single wrong digit never passes', () => {
    const digits = fc.nat({ max: 9 });
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(sandboxCards)),
        fc.nat({ max: 14 }),
        digits,
        (number, place, digit) => {
          fc.pre(number[place] !== String(digit));
          expect(passesLuhn(number.slice(0, place) + String(digit) + number.slice(place + 1))).toBe(false);
        },
      ),
    );
  });

  it('every documented number passes, and has a scheme', () => {
    for (const number of Object.keys(sandboxCards)) {
      expect(passesLuhn(number)).toBe(true);
      expect(schemeOf(number)).not.toBe('other');
    }
  });
});

describe('a card number in a text', () => {
  it.each([
    '4111111111111111',
    'card 4111 1111 1111 1111, please',
    '4111-1111-1111-1111',
    '4111 1111 1111 1111 12/27',
    '4111111111111111 123',
    '4111111111111111-737',
    '2024-01-05 4111111111111111',
    'order 7 4111111111111111',
    '4111.1111.1111.1111',
    '4111\u00a01111\u00a01111\u00a01111',
    '4111  1111  1111  1111',
    '3782 822463 10005',
    '4111/1111/1111/1111',
    '4111_1111_1111_1111',
    '4111:1111:1111:1111',
    '4111|1111|1111|1111',
    '4111\u034f1111\ufe0f1111\u034f1111',
    '4111\u200b1111\u200b1111\u200b1111',
    Array.from('4111111111111111').join('\u200b\ufeff'),
    '4111 \u200b1111\u00ad-1111\u20601111',
  ])('is seen in %j, and masked', (text) => {
    expect(hasCardNumber(text, 'whole')).toBe(true);
    expect(maskCardNumbers(text, 'whole')).toContain('[number]');
    expect(hasCardNumber(maskCardNumbers(text, 'whole'), 'whole')).toBe(false);
  });

  it.each([
    'no digits',
    '4111111111111112',
    '0000000000000000',
    '41111111111111110000000',
    '2024-01-05T10:30:00',
    'a4111b1111c1111d1111',
    '+49 30 1234567',
    '30/12/2024 10:30:04',
    '4111    1111    1111    1111',
    '٤١١١١١١١١١١١١١١١',
    '４１１１ １１１１ １１１１ １１１１',
  ])('is not seen in %j', (text) => {
    expect(hasCardNumber(text, 'whole')).toBe(false);
  });

  const digit = fc.constantFrom('0', '1', '4', '5');
  const others = ['', '', ' ', '-', '.', ':', '\u00a0', '\u200b', '\ufeff', '\u0301', 'x', '٤', '😀'];
  const group = fc.string({ unit: digit, minLength: 1, maxLength: 16 });
  const gap = fc.string({ unit: fc.constantFrom(...others), maxLength: 4 });
  const texts = fc.array(fc.tuple(group, gap), { maxLength: 12 }).map((groups) => groups.flat().join(''));

  it('is found by each rule where a search that tries everything finds it', () => {
    fc.assert(
      fc.property(texts, (text) => {
        for (const rule of ['inside', 'whole'] as const) {
          expect(maskCardNumbers(text, rule)).toBe(maskSlowly(text, rule));
          expect(hasCardNumber(text, rule)).toBe(maskSlowly(text, rule) !== text);
        }
      }),
    );
  });

  it.each([
    '4',
    '0 ',
    '4111 1-1',
    '4a1-',
    '1\ufeff\ufeff\ufeff\ufeff',
    '\ufeff',
    '\u200b ',
    ' ',
    '٤',
    '𝟺',
    '😀',
    '://:',
  ])('costs little CPU to look for in 100 kB of %j', (piece) => {
    const text = `1${piece.repeat(100_000 / piece.length)}x1`;
    for (const rule of ['inside', 'whole'] as const)
      expect(cpuMilliseconds(() => maskCardNumbers(text, rule))).toBeLessThan(500);
  });
});

/** What the rules say, without a thought for the time that it takes. */
function maskSlowly(text: string, rule: 'inside' | 'whole'): string {
  const invisible = String.raw`[\p{Cf}\p{Mn}]*`;
  const gap = String.raw`${invisible}(?:(?!\p{Cf})[\s./_:|\p{Pd}]${invisible}){0,3}`;
  const digitsOf = (part: string) => part.replace(/[^0-9]/g, '');
  const isNumber = (digits: string) => digits.length >= 13 && digits.length <= 19 && passesLuhn(digits);
  return text.replace(new RegExp(`[0-9](?:${gap}[0-9])*`, 'gu'), (run) => {
    if (rule === 'inside') {
      const digits = digitsOf(run);
      const parts = Array.from(digits, (_one, from) =>
        Array.from(digits, (_other, to) => digits.slice(from, to + 1)),
      );
      return parts.flat().some(isNumber) ? `[number]${digits.slice(-4)}` : run;
    }
    // Groups, and what is between them.
    const pieces = run.split(/([0-9]+)/).slice(1, -1);
    let masked = '';
    while (pieces.length > 0) {
      const ends = pieces.map((_, index) => index + 1);
      const end = ends.find((to) => {
        const digits = digitsOf(pieces.slice(0, to).join(''));
        return to % 2 === 1 && isNumber(digits) && creditCardType(digits).length > 0;
      });
      const taken = pieces.splice(0, end ?? 1).join('');
      masked += end === undefined ? taken : '[number]';
      masked += pieces.shift() ?? '';
    }
    return masked;
  });
}

describe('dates', () => {
  it.each([
    ['11/26', '2026-11-30T23:59:59.999Z', false],
    ['11/26', '2026-12-01T00:00:00.000Z', true],
    ['12/26', '2027-01-01T00:00:00.000Z', true],
    ['12/99', '2026-01-01T00:00:00.000Z', false],
    ['01/26', '2026-01-31T23:59:59.999Z', false],
    ['01/26', '2026-02-01T00:00:00.000Z', true],
    ['00/39', '2026-01-01T00:00:00.000Z', true],
    ['13/39', '2026-01-01T00:00:00.000Z', true],
  ])('%s at %s', (date, now, expired) => {
    expect(hasExpired(date, new Date(now))).toBe(expired);
  });
});

describe('facts from a card number', () => {
  it.each([
    ['4111111111111111', '41111111'],
    ['378282246310005', '378282'],
    ['4111111111111111110', '41111111'],
    ['4222222222222', '422222'],
  ])('the BIN of %s is %s', (number, bin) => {
    expect(binOf(number)).toBe(bin);
  });

  it.each([
    ['4111111111111111', '12/39', undefined],
    ['4111111111111112', '12/39', 'the check digit is wrong'],
    ['4111111111111111', '10/26', 'the card has expired'],
    ['4111111111111112', '10/26', 'the check digit is wrong'],
  ])('%s until %s cannot be used because: %s', (number, expiration_date, why) => {
    expect(unusable({ number, expiration_date }, new Date('2026-11-15T10:30:00Z'))).toBe(why);
  });

  it('the last four digits are shown', () => {
    expect(lastFour('378282246310005')).toBe('0005');
  });

  // Numbers that the schemes and payment services publish for tests.
  it.each([
    ['378282246310005', 'amex'],
    ['36227206271667', 'diners-club'],
    ['6011000990139424', 'discover'],
    ['6362970000457013', 'elo'],
    ['6370950000000005', 'hipercard'],
    ['6062826786276634', 'hipercard'],
    ['3566111111111113', 'jcb'],
    ['5018000000000009', 'maestro'],
    ['5555555555554444', 'mastercard'],
    ['2200000000000053', 'mir'],
    ['6212345678901232', 'unionpay'],
    ['4111111111111111', 'visa'],
    ['9999999999999995', 'other'],
    ['', 'other'],
    // Could be Maestro or UnionPay.
    ['6', 'other'],
  ])('%s is a card of %s', (number, scheme) => {
    expect(schemeOf(number)).toBe(scheme);
  });

  it('is what the library says, beside the ends of all its ranges and anywhere else', () => {
    const ends = patterns.flatMap(({ least, most }) => [least - 1, least, most, most + 1]);
    const first = fc.oneof(fc.constantFrom(...ends), fc.nat({ max: 99_999_999 }));
    fc.assert(
      fc.property(first, fc.stringMatching(/^[0-9]{5,11}$/), (start, rest) => {
        const number = String(start).padStart(8, '0') + rest;
        expect([number, schemeOf(number)]).toEqual([number, askLibrary(number)]);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
