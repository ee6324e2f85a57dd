// The user that PostgreSQL runs as. It refuses to run as root, so root runs it as `nobody`, a user that exists
// everywhere. That user must be able to enter every parent folder of the binaries and of the data.
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
    throw new Error('PostgreSQL cannot run as root, and this system has no user "nobody": set DATABASE_URL.');
  }
  return { uid: Number(line[1]), gid: Number(line[2]) };
}

/** Whether this user can enter all folders of the path and execute (or enter) the last part of it. */
export async function canReach(path: string, { uid, gid }: Identity): Promise<boolean> {
  for (let at = await realpath(path); ; at = dirname(at)) {
    const found = await stat(at);
    const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001;
    if ((found.mode & bit) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

/**
 * Makes PostgreSQL's user the owner of a file, or of a folder and its content. The folder itself is changed
 * last, so a folder with the right owner is complete. Links are not followed: that user may have created them.
 */
export async function chownTree(path: string, identity: Identity | undefined): Promise<void> {
  if (!identity) return;
  const found = await lstat(path);
  if (found.uid === identity.uid) return;
  if (found.isDirectory()) {
    for (const name of await readdir(path)) await chownTree(join(path, name), identity);
  }
  await lchown(path, identity.uid, identity.gid);
}
