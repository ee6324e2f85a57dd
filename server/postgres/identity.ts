// As whom PostgreSQL runs. It refuses to run as root, so root runs it as `nobody`, who exists everywhere and
// must be able to enter every folder on the way to the binaries and to the data.
import { lchown, lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface Identity {
  uid: number;
  gid: number;
}

export const isRoot = (): boolean => process.getuid?.() === 0;

export async function nobody(): Promise<Identity> {
  const line = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(await readFile('/etc/passwd', 'utf8'));
  if (!line) {
    throw new Error('PostgreSQL does not run as root and there is no user "nobody" here: set DATABASE_URL.');
  }
  return { uid: Number(line[1]), gid: Number(line[2]) };
}

/** Whether this user may pass through all folders of the path and execute, or enter, what is at its end. */
export async function canReach(path: string, { uid, gid }: Identity): Promise<boolean> {
  for (let at = await realpath(path); ; at = dirname(at)) {
    const found = await stat(at);
    const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001;
    if ((found.mode & bit) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

/**
 * Gives a file, or a folder with all that is in it, to whom PostgreSQL runs as. The folder goes last, so that
 * one that is theirs is wholly theirs. Never follows a link: the receiver may have made it.
 */
export async function give(path: string, identity: Identity | undefined): Promise<void> {
  if (!identity) return;
  const found = await lstat(path);
  if (found.uid === identity.uid) return;
  if (found.isDirectory()) {
    for (const name of await readdir(path)) await give(join(path, name), identity);
  }
  await lchown(path, identity.uid, identity.gid);
}
