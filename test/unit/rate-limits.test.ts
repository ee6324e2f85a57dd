// How a request waits for a statement that counts several requests.
import { expect, it } from 'vitest';
import { waitForAll } from '../../server/database/rate-limits.ts';
import { Crowded } from '../../server/faults.ts';

const calling = (left: number) => ({ owner: { keyPair: 'one', account: undefined }, deadline: { left } });
const never = () => new Promise<never>(() => undefined);

it('waits no longer than its own deadline, whatever the others may, and is then one of too many', async () => {
  const one = calling(20);
  await expect(waitForAll(one, never)).rejects.toBeInstanceOf(Crowded);
  // A timer may end a fraction of a millisecond early.
  expect(one.deadline.left).toBeLessThan(1);
});

it('takes its time from the deadline of the request, and a failure of the statement is its own', async () => {
  const one = calling(5_000);
  const pause = () => new Promise<string>((resolve) => setTimeout(resolve, 20, 'counted'));
  expect(await waitForAll(one, pause)).toBe('counted');
  expect(one.deadline.left).toBeLessThan(5_000);
  const fault = new Error('the database is gone');
  await expect(waitForAll(one, () => Promise.reject(fault))).rejects.toBe(fault);
});
