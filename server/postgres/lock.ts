// A lock between processes that does not stay locked when its holder is killed.
//
// Each turn is a symbolic link in a folder. Its name is a number that only grows, its target names the holder;
// the highest number is the current turn. Creating a link is atomic and fails if the name exists. The turn of a
// dead holder is not deleted, because two processes could then delete each other's new turn: they both try to
// create the next number, and one of them succeeds.
import { readdir, readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from '../private-files.ts';
import { hasCode, startTimeOf } from './process.ts';

const free = 'free';
const timeoutMilliseconds = 150_000;

async function highest(folder: string): Promise<number> {
  return Math.max(0, ...(await readdir(folder)).map(Number).filter(Number.isSafeInteger));
}

async function isHeld(folder: string, turn: number): Promise<boolean> {
  if (turn === 0) return false;
  // Deleted after we listed it: a newer turn exists, so the caller must list again.
  const holder = await readlink(join(folder, String(turn))).catch(() => undefined);
  if (holder === undefined) return true;
  if (holder === free) return false;
  const [pid, start] = holder.split('@');
  return (await startTimeOf(Number(pid))) === start;
}

async function claim(folder: string, turn: number, holder: string): Promise<boolean> {
  try {
    await symlink(holder, join(folder, String(turn)));
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
  // The list that we chose the number from may be old, and the turn of that number over.
  if ((await highest(folder)) === turn) return true;
  await rm(join(folder, String(turn)), { force: true });
  return false;
}

async function takeTurn(folder: string, name: string): Promise<number> {
  const holder = `${process.pid}@${(await startTimeOf(process.pid)) ?? ''}`;
  const deadline = Date.now() + timeoutMilliseconds;
  while (Date.now() < deadline) {
    const last = await highest(folder);
    if (!(await isHeld(folder, last)) && (await claim(folder, last + 1, holder))) return last + 1;
    await sleep(20);
  }
  throw new Error(
    `Another process has held the lock ${name} for ${timeoutMilliseconds / 1000} seconds: stop it, or remove that folder.`,
  );
}

/** Runs `work` while it holds the lock of this folder. Excludes other processes and other callers in this process. */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  // By its handle: a link in its place could lead to files of other users that have numbers for names.
  const opened = makeFolder(path);
  const folder = opened.at();
  try {
    const turn = await takeTurn(folder, path);
    for (const name of await readdir(folder)) {
      if (Number(name) < turn) await rm(join(folder, name), { force: true });
    }
    try {
      return await work();
    } finally {
      await symlink(free, join(folder, String(turn + 1)));
      await rm(join(folder, String(turn)), { force: true });
    }
  } finally {
    opened.close();
  }
}
