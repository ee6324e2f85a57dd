// A lock between processes that a kill -9 at any moment cannot leave shut.
//
// Each turn is one symbolic link in a folder, named by a number that only grows and pointing at its holder:
// making a link is atomic, contents included, and fails if the name exists. The highest number counts. A turn
// is never broken by deleting it (two who find the same dead holder could then delete each other's): the next
// number is taken instead, and one process only can make it.
import { mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode, startOf } from './process.ts';

const free = 'free';
const patience = 150_000;

async function highest(folder: string): Promise<number> {
  return Math.max(0, ...(await readdir(folder)).map(Number).filter(Number.isSafeInteger));
}

async function isHeld(folder: string, turn: number): Promise<boolean> {
  if (turn === 0) return false;
  // Gone between listing and reading means that a newer turn exists: look again.
  const holder = await readlink(join(folder, String(turn))).catch(() => undefined);
  if (holder === undefined) return true;
  if (holder === free) return false;
  const [pid, start] = holder.split('@');
  return (await startOf(Number(pid))) === start;
}

async function claim(folder: string, turn: number, holder: string): Promise<boolean> {
  try {
    await symlink(holder, join(folder, String(turn)));
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
  // Whoever looked long ago may have taken a number whose turn is past.
  if ((await highest(folder)) === turn) return true;
  await rm(join(folder, String(turn)), { force: true });
  return false;
}

async function takeTurn(folder: string): Promise<number> {
  const holder = `${process.pid}@${(await startOf(process.pid)) ?? ''}`;
  const deadline = Date.now() + patience;
  while (Date.now() < deadline) {
    const last = await highest(folder);
    if (!(await isHeld(folder, last)) && (await claim(folder, last + 1, holder))) return last + 1;
    await sleep(20);
  }
  throw new Error(
    `Another process has held ${folder} for ${patience / 1000} seconds: end it, or remove that folder.`,
  );
}

/** Does the work while no other process, and nobody else in this one, does work under the same folder. */
export async function withLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true });
  const turn = await takeTurn(folder);
  for (const name of await readdir(folder)) {
    if (Number(name) < turn) await rm(join(folder, name), { force: true });
  }
  try {
    return await work();
  } finally {
    await symlink(free, join(folder, String(turn + 1)));
    await rm(join(folder, String(turn)), { force: true });
  }
}
