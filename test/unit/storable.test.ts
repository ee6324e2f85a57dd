import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isStorable, whyUnstorable } from '../../server/kit/rules/values.ts';

describe(`text that PostgreSQL cannot store`, () => {
  it('is text with U+0000 or half of a surrogate pair, and no other', () => {
    const unit = fc.constantFrom(
      'a',
      '\\',
      'u',
      '0000',
      'd800',
      '"',
      '\u0000',
      '\ud83e',
      '\udd84',
      '🦄',
      '\n',
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 8 }), fc.string({ unit, maxLength: 8 }), (key, text) => {
        // A second implementation: by code points instead of escapes.
        const isWellFormed = Array.from(`${key} ${text}`).every(
          (point) => !/^[\ud800-\udfff\0]$/.test(point),
        );
        expect(isStorable(JSON.stringify({ [key]: text }))).toBe(isWellFormed);
      }),
    );
  });

  it('is found whether the escape is in upper or lower case', () => {
    expect(isStorable('"\\uD800"')).toBe(false);
    expect(isStorable('"\\udfff"')).toBe(false);
  });
});

describe('a record that cannot be stored', () => {
  const at = (created_at: string, updated_at = '2026-11-15T10:30:00Z') => ({ created_at, updated_at });

  it.each([
    [at('2026-11-15T10:30:00Z'), undefined],
    [at('0000-01-01T00:00:00Z'), undefined],
    [at('9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'), undefined],
    // Both are stored as the same millisecond.
    [at('2026-11-15T10:30:00.0009Z', '2026-11-15T10:30:00.0001Z'), undefined],
    [at('2026-11-15T10:30:00.001Z', '2026-11-15T11:30:00+01:00'), 'updated_at is before created_at'],
    [at('0000-01-01T00:00:00+00:01'), 'created_at is not in the years 0000 to 9999 of UTC'],
    [at('9999-12-31T23:59:59-00:01'), 'created_at is not in the years 0000 to 9999 of UTC'],
    [
      at('2026-11-15T10:30:00Z', '9999-12-31T23:59:59-00:01'),
      'updated_at is not in the years 0000 to 9999 of UTC',
    ],
    [
      { ...at('2026-11-15T10:30:00Z'), metadata: { a: 'x\u0000' } },
      'has text with U+0000 or a lone surrogate, which cannot be stored',
    ],
  ])('%j: %s', (record, why) => {
    expect(whyUnstorable(record)).toBe(why);
  });
});
