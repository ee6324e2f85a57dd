// What a process remembers of limits that are reached.
import { expect, it, onTestFinished, vi } from 'vitest';
import { createClosed } from '../../server/kit/rules/closed.ts';

it('remembers what is closed until it opens, and asks the database again every ten seconds', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = createClosed();
  const asked = performance.now();
  // The answer of the database took a second.
  vi.advanceTimersByTime(1_000);
  closed.add('a minute', 60_000, asked);
  closed.add('three seconds', 3_000, asked);
  expect([closed.left('a minute'), closed.left('three seconds'), closed.left('another')]).toEqual([
    59_000,
    2_000,
    undefined,
  ]);
  vi.advanceTimersByTime(2_000);
  expect([closed.left('a minute'), closed.left('three seconds')]).toEqual([57_000, undefined]);
  vi.advanceTimersByTime(6_999);
  expect(closed.left('a minute')).toBe(50_001);
  vi.advanceTimersByTime(1);
  expect(closed.left('a minute')).toBeUndefined();
});

it('holds the refusals of a key pair that floods, but not those of another one as long', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = createClosed();
  const ended: string[] = [];
  const hold = (keyPair: string) =>
    closed.holdBack(keyPair).then(() => {
      ended.push(keyPair);
    });
  const flood = Array.from({ length: 300 }, () => hold('floods'));
  const another = hold('another');
  await vi.runAllTimersAsync();
  await Promise.all([another, ...flood]);
  // As if it were alone: right after the first one of the flood.
  expect(ended.indexOf('another')).toBe(1);
});
