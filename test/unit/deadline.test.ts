import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isDoneWithin } from '../../server/rules/async.ts';

describe('isDoneWithin', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is true for work that is done in time, and leaves no timer', async () => {
    expect(await isDoneWithin(1_000, Promise.resolve('done'))).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is false after exactly this time', async () => {
    let answer: boolean | undefined;
    const work = new Promise<void>(() => undefined);
    const asked = isDoneWithin(1_000, work).then((value) => (answer = value));
    await vi.advanceTimersByTimeAsync(999);
    expect(answer).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    await asked;
    expect(answer).toBe(false);
  });

  it('passes a failure of the work on, and leaves no timer', async () => {
    await expect(isDoneWithin(1_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(vi.getTimerCount()).toBe(0);
  });
});
