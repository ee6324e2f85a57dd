import { expect, it } from 'vitest';
import { missingRanges, partitionDays } from '../../server/domain/time-ranges.ts';
import { makeTimedUuid, timeOfUuid, isUuid } from '../../server/domain/uuid.ts';

const at = (text: string) => new Date(`${text}Z`);
const shown = (ranges: ReturnType<typeof missingRanges>) =>
  ranges.map(({ from, to }) => [from, to].map((time) => time.toISOString().slice(5, 13)).join(' '));

it('partitions hold days, weeks or 30 days, so that there are few and records are not kept for much longer', () => {
  expect([1, 14, 15, 30, 180, 181, 3650].map(partitionDays)).toEqual([1, 1, 7, 7, 7, 30, 30]);
});

it('the current range and the next three are missing at first; weeks begin on Mondays', () => {
  const now = at('2026-11-18T12:00');
  expect(shown(missingRanges([], now, 7))).toEqual([
    '11-16T00 11-23T00',
    '11-23T00 11-30T00',
    '11-30T00 12-07T00',
    '12-07T00 12-14T00',
  ]);
  expect(shown(missingRanges([], now, 1))[0]).toBe('11-18T00 11-19T00');
  expect(missingRanges(missingRanges([], now, 7), now, 7)).toEqual([]);
});

it('what others cover is left out, also a part of a range', () => {
  const now = at('2026-11-18T12:00');
  const first = { from: at('0001-01-01T00:00'), to: at('2026-11-23T00:00') };
  const days = { from: at('2026-11-30T00:00'), to: at('2026-12-02T00:00') };
  expect(shown(missingRanges([first, days], now, 7))).toEqual([
    '11-23T00 11-30T00',
    '12-02T00 12-07T00',
    '12-07T00 12-14T00',
  ]);
});

it('the ID of an event tells its time to the millisecond; other IDs tell none', () => {
  const now = at('2026-11-18T12:34:56.789');
  const [one, other] = [makeTimedUuid(now), makeTimedUuid(now)];
  expect(isUuid(one)).toBe(true);
  expect(one).toMatch(/^.{14}7.{4}[89ab]/);
  expect(one).not.toBe(other);
  expect(timeOfUuid(one)).toEqual(now);
  expect(timeOfUuid('8d5a0c4e-94b3-4c0e-9a7c-3a3c5ad1c1a5')).toBeUndefined();
});
