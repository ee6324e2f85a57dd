// The pause between two fetches of the webhook worker.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPause } from '../../server/events/worker.ts';

const hour = 3_600_000;
const least = 20;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Begins a pause of an hour, and says after how many milliseconds it is over. */
function start(signal = new AbortController().signal) {
  const { pause, wake } = createPause(signal);
  const begin = () => {
    let isOver = false;
    void pause(hour, least).then(() => (isOver = true));
    return async (milliseconds: number) => {
      await vi.advanceTimersByTimeAsync(milliseconds);
      return isOver;
    };
  };
  return { wake, begin };
}

it('ends after its time', async () => {
  const isOverAfter = start().begin();
  expect(await isOverAfter(hour - 1)).toBe(false);
  expect(await isOverAfter(1)).toBe(true);
});

it('ends when the worker is woken', async () => {
  const { begin, wake } = start();
  const isOverAfter = begin();
  expect(await isOverAfter(least)).toBe(false);
  wake();
  expect(await isOverAfter(0)).toBe(true);
});

it('is short once if the worker was woken before, during its last fetch', async () => {
  const { begin, wake } = start();
  wake();
  expect(await begin()(least)).toBe(true);
  expect(await begin()(hour - 1)).toBe(false);
});

it('lasts as long as it must, however often the worker is woken', async () => {
  const { begin, wake } = start();
  const isOverAfter = begin();
  for (let passed = 1; passed < least; passed += 1) {
    wake();
    expect(await isOverAfter(1)).toBe(false);
  }
  expect(await isOverAfter(1)).toBe(true);
});

it('ends when the worker stops', async () => {
  const stopping = new AbortController();
  const { begin } = start(stopping.signal);
  const isOverAfter = begin();
  stopping.abort();
  expect(await isOverAfter(0)).toBe(true);
  expect(await begin()(0)).toBe(true);
});
