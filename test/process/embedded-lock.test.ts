// The lock that keeps two processes from creating the same cluster.
import { mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { withLock } from '../../server/postgres/lock.ts';
import { startTimeOf } from '../../server/postgres/process.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'embedded-lock-'));
});

afterEach(() => rm(folder, { recursive: true }));

const locked = <T>(work: () => Promise<T>): Promise<T> => withLock(join(folder), work);

it('lets one caller in at a time', async () => {
  const counter = join(folder, 'counter');
  await writeFile(counter, '0');
  const addOne = async (): Promise<void> => {
    const count = Number(await readFile(counter, 'utf8'));
    await nextTurn();
    await writeFile(counter, String(count + 1));
  };
  await Promise.all(Array.from({ length: 12 }, () => locked(addOne)));
  expect(await readFile(counter, 'utf8')).toBe('12');
});

it('is released when the work fails', async () => {
  await expect(locked(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await locked(() => Promise.resolve('in'))).toBe('in');
});

it.each([
  ['is gone', () => Promise.resolve(`${2 ** 22 + 1}@1`)],
  ['died, and whose number another process has now', () => Promise.resolve(`${process.pid}@1`)],
])('does not wait for a holder who %s', async (_, holder) => {
  await symlink(await holder(), join(folder, '7'));
  expect(await locked(() => Promise.resolve('in'))).toBe('in');
});

it('waits for a holder that is alive', async () => {
  await symlink(`${process.pid}@${(await startTimeOf(process.pid)) ?? ''}`, join(folder, '7'));
  let entered = false;
  const entering = locked(() => {
    entered = true;
    return Promise.resolve();
  });
  // Long enough to notice a caller that does not wait: without a holder it enters after a few turns of the event loop.
  for (let turn = 0; turn < 200; turn++) await nextTurn();
  expect(entered).toBe(false);
  await symlink('free', join(folder, '8'));
  await entering;
  expect(entered).toBe(true);
});

it('leaves nothing behind but the number of the last turn', async () => {
  await locked(() => Promise.resolve());
  await locked(() => Promise.resolve());
  const [left, ...more] = await readdir(folder);
  expect(more).toEqual([]);
  expect(await readlink(join(folder, left ?? ''))).toBe('free');
});
