// How a request waits for a statement that counts several requests.
import { expect, it } from 'vitest';
import {
  amongOthers,
  refuseOverloaded,
  withinDeadline,
  type Deadline,
} from '../../server/kit/database/connection.ts';
import { waitForAll } from '../../server/kit/database/rate-limits.ts';
import { Overloaded } from '../../server/kit/faults.ts';

const calling = (left: number) => ({ owner: { keyPair: 'one', account: undefined }, deadline: { left } });
const never = () => new Promise<never>(() => undefined);

it('waits no longer than its own deadline, whatever the others may, and is then one of too many', async () => {
  const one = calling(20);
  await expect(waitForAll(one, never)).rejects.toBeInstanceOf(Overloaded);
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

it('is one of too many, too, if it waited so long for others that there is little time for its own statement', async () => {
  const nothing = () => undefined;
  const outOfTime = (deadline: Deadline) =>
    withinDeadline(deadline, Infinity, never, nothing).catch((error: unknown) => error instanceof Overloaded);
  expect(await outOfTime({ left: 0, waited: 1_000 })).toBe(true);
  expect(await outOfTime({ left: 0, waited: 999 })).toBe(false);
  // A transaction goes on as long as there is time, but none is begun.
  const soon = { left: 500, waited: 1_000 };
  expect(await withinDeadline(soon, Infinity, () => Promise.resolve('sent'), nothing)).toBe('sent');
  expect(() => {
    refuseOverloaded(soon);
  }).toThrow(Overloaded);
  refuseOverloaded({ left: 501, waited: 1_000 });
  const deadline: Deadline = { left: 5_000 };
  const pause = () => new Promise<string>((resolve) => setTimeout(resolve, 20, 'its turn'));
  await waitForAll({ owner: { keyPair: 'one', account: undefined }, deadline }, pause);
  const { waited = 0 } = deadline;
  expect(waited).toBeGreaterThan(0);
  await amongOthers(deadline, pause, nothing);
  expect(deadline.waited).toBeGreaterThan(waited);
});
