// Times of any precision become whole milliseconds: a lower bound is rounded up and an upper bound down, so that a filter never
// includes what the caller excluded.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { notAfter, notBefore } from '../../server/kit/rules/values.ts';

const pad = (value: number, length = 2) => String(value).padStart(length, '0');

/** Writes a time as RFC 3339 allows it; the digits after the milliseconds are given. */
const written = fc
  .record({
    time: fc.date({
      min: new Date('0001-01-02T00:00:00.000Z'),
      max: new Date('9999-12-30T00:00:00.000Z'),
      noInvalidDate: true,
    }),
    beyond: fc.stringMatching(/^[0-9]{0,12}$/),
    offset: fc.option(fc.integer({ min: -1439, max: 1439 })),
    isLower: fc.boolean(),
  })
  .map(({ time, beyond, offset, isLower }) => {
    const local = new Date(time.getTime() + (offset ?? 0) * 60_000).toISOString().slice(0, -1);
    const minutes = Math.abs(offset ?? 0);
    const zone =
      offset === null
        ? 'Z'
        : `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
    const text = `${local}${beyond}${zone}`;
    return { time, text: isLower ? text.toLowerCase() : text, isLater: BigInt(`0${beyond}`) > 0n };
  });

describe(`times`, () => {
  it('are the millisecond that they fall in, or the next one for a lower bound', () => {
    fc.assert(
      fc.property(written, ({ time, text, isLater }) => {
        expect(notAfter(text)).toEqual(time);
        expect(notBefore(text)).toEqual(isLater ? new Date(time.getTime() + 1) : time);
      }),
    );
  });

  it.each([
    ['2026-11-15T10:30:00Z', '2026-11-15T10:30:00.000Z'],
    ['2026-11-15T10:30:00.5Z', '2026-11-15T10:30:00.500Z'],
    ['2026-11-15T10:30:00.05Z', '2026-11-15T10:30:00.050Z'],
    ['2026-11-15T10:30:00.0059Z', '2026-11-15T10:30:00.005Z'],
    ['0026-11-15T10:30:00Z', '0026-11-15T10:30:00.000Z'],
    ['2024-02-29T00:00:00+00:01', '2024-02-28T23:59:00.000Z'],
  ])('%s falls in %s', (text, time) => {
    expect(notAfter(text).toISOString()).toBe(time);
  });

  it.each([
    ...['', 'yesterday', '2026-11-15', '2026-11-15T10:30:00', '2026-11-15T10:30Z', '2026-11-15T10:30:00.Z'],
    ...['x2026-11-15T10:30:00Z', '2026-11-15T10:30:00Zx', '2026-11-15T10:30:00 01:00'],
    ...['2026-11-15T10:30:00+0100', '2026-11-15T10:30:00+01', '2026-11-15T10:30:00+1:00'],
    ...['2026-11-15 10:30:00Z', '26-11-15T10:30:00Z', '2026-1-15T10:30:00Z', '2026-11-5T10:30:00Z'],
    ...['2026-11-15T1:30:00Z', '2026-11-15T10:3:00Z', '2026-11-15T10:30:0Z', '2026-11-15T10:30:00.5xZ'],
    '2026-11-15T10:30:00+01:0',
  ])('%j is none', (text) => {
    expect(() => notAfter(text)).toThrow(new RangeError(`Not a date-time: ${text}`));
    expect(() => notBefore(text)).toThrow(RangeError);
  });
});
