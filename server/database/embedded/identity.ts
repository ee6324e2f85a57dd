// The user that works in a folder. PostgreSQL refuses to run as root, so root runs it as `nobody`, a user that exists
// everywhere, or as the owner of the folder. That owner may have planted links, so root follows none of them in its folder.
import { lchownSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OperatorFault } from '../../faults.ts';

export interface Identity {
  uid: number;
  gid: number;
}

export const isRoot = (): boolean => process.getuid?.() === 0;

export function nobody(): Identity {
  const line = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  if (!line)
    throw new OperatorFault(
      'PostgreSQL cannot run as root, and this system has no user "nobody": set DATABASE_URL.',
    );
  return { uid: Number(line[1]), gid: Number(line[2]) };
}

/** The owner of a folder. Never with the group of root, which a folder has that root gave away by `chown USER`. */
export function ownerOf(folder: string): Identity {
  const { uid, gid } = statSync(folder);
  return { uid, gid: uid !== 0 && gid === 0 ? nobody().gid : gid };
}

/** Whether this user can enter all folders of the path and execute (or enter) the last part of it. */
export function canReach(path: string, { uid, gid }: Identity): boolean {
  for (let at = realpathSync(path); ; at = dirname(at)) {
    const found = statSync(at);
    const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001;
    if ((found.mode & bit) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

/** Gives a folder and its content to this user. The folder itself comes last, so one with the right owner is complete. */
export function chownTree(path: string, identity: Identity): void {
  const found = lstatSync(path);
  if (found.isDirectory()) for (const name of readdirSync(path)) chownTree(join(path, name), identity);
  lchownSync(path, identity.uid, identity.gid);
}
