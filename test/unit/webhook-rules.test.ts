import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { events } from '../../generated/operations.ts';
import { pascal } from '../../scripts/new/names.ts';
import { nextWait, readRetryAfter, waits } from '../../server/kit/events/attempts.ts';

it.each(events)('%s is published', (event) => {
  const folder = 'server/resources';
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const changes = files.filter((file) => file.endsWith('changes.ts'));
  const code = changes.map((file) => readFileSync(`${folder}/${file}`, 'utf8'));
  const resource = pascal(event.replace(/\..*/, ''));
  const advice = `Publish it in the change of ${folder}/ that causes it: withEvent(unit, '${event}', present${resource}, (db) => …). See docs/guides/backend-engineer.md, "An event".`;
  expect(
    code.some((text) => new RegExp(`(withEvent|publishing|publish\\?\\.)\\([^;]*'${event}'`).test(text)),
    advice,
  ).toBe(true);
});

describe('when a delivery is retried', () => {
  it('follows the schedule, plus or minus 10 %', () => {
    const hour = 3600;
    expect(waits).toEqual([0, 5, 300, 1800, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]);
    for (let attempts = 1; attempts < waits.length; attempts += 1) {
      const wait = waits[attempts] ?? 0;
      expect(nextWait(attempts, undefined, 0)).toBeCloseTo(wait * 0.9);
      expect(nextWait(attempts, undefined, 1)).toBeCloseTo(wait * 1.1);
      expect(Math.abs((nextWait(attempts, undefined) ?? 0) - wait)).toBeLessThanOrEqual(wait * 0.1);
    }
    expect(nextWait(waits.length, undefined, 0.5)).toBeUndefined();
  });

  it('waits as long as the receiver asks, but never shorter than the schedule and never longer than a day', () => {
    expect(nextWait(1, 100, 0.5)).toBe(100);
    expect(nextWait(2, 1, 0.5)).toBeCloseTo(300);
    expect(nextWait(1, 10_000_000, 0.5)).toBe(86_400);
  });

  it('reads Retry-After as seconds or as a date', () => {
    const now = new Date('2026-11-15T10:00:00Z');
    expect(readRetryAfter('120', now)).toBe(120);
    expect(readRetryAfter('Sun, 15 Nov 2026 10:01:00 GMT', now)).toBe(60);
    expect(readRetryAfter('Sun, 15 Nov 2026 09:00:00 GMT', now)).toBe(0);
    expect(readRetryAfter('soon', now)).toBeUndefined();
    expect(readRetryAfter(undefined, now)).toBeUndefined();
  });
});
