// DATA_DIR, which contains the embedded database and secrets in files of mode 0600.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchownSync,
  fsyncSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { codeOf, OperatorFault } from '../../faults.ts';

/** A sentence instead of an error of the file system, where the operator has to change something. */
export function explain(error: unknown, path: string): never {
  const code = codeOf(error) ?? '';
  if (code === 'ENOSPC' || code === 'EDQUOT')
    throw new OperatorFault(
      `${path} cannot be written: the disk is full. Free space there, or choose another DATA_DIR.`,
    );
  if (code === 'EROFS')
    throw new OperatorFault(`${path} is on a read-only file system: choose another DATA_DIR.`);
  if (code === 'ELOOP')
    throw new OperatorFault(
      `${path} is a symbolic link, but secrets are not read through links: put the file itself there, or set DATA_DIR to its folder.`,
    );
  if (!['EACCES', 'EPERM', 'ENOTDIR', 'EEXIST', 'EISDIR'].includes(code)) throw error;
  throw new OperatorFault(
    `${path} cannot be read or written (${code}): give it and its folder to the user that runs this, or choose another DATA_DIR.`,
    { cause: error },
  );
}

/**
 * Creates DATA_DIR if it is missing and returns its real path. Created by root, it has mode 0711: PostgreSQL runs as another
 * user and must pass through, but must not list it.
 */
export function makeDataDirectory(dataDir: string): string {
  const path = resolve(dataDir);
  const umask = process.umask(0o066);
  let made: string | undefined;
  try {
    made = mkdirSync(path, { recursive: true, mode: isRoot() ? 0o711 : 0o700 });
  } catch (error) {
    // This is what Node says of a read-only file system.
    if (codeOf(error) === 'ENOENT')
      throw new OperatorFault(
        `${path} cannot be created: its file system is read-only, or a link in the path leads nowhere. Choose another DATA_DIR.`,
      );
    explain(error, path);
  } finally {
    process.umask(umask);
  }
  refuseOpen(path);
  // It may be in a project of somebody, who adds all files to Git, keys and data included.
  if (made !== undefined) createPrivate(join(path, '.gitignore'), '*\n');
  return realpathSync(path);
}

export function refuseOpen(path: string): void {
  const fault = findOpening(path);
  if (fault !== undefined) throw new OperatorFault(`${path} cannot keep secrets: ${fault}`);
}

function findOpening(path: string): string | undefined {
  const { uid, gid, mode } = statSync(path);
  const canAllWrite = (mode & 0o002) !== 0;
  if (canAllWrite) return `everybody may write to it. Close it: chmod o-w ${path}`;
  const us = process.getuid?.() ?? 0;
  const [isOfRoot, isOurs] = [uid === 0, uid === us];
  if (us === 0) {
    // A folder of another user has that user's group: root works in it as that user.
    const canOthersWrite = isOfRoot && gid !== 0 && (mode & 0o020) !== 0;
    return canOthersWrite ? `its group may write to it. Close it: chmod g-w ${path}` : undefined;
  }
  if (isOurs || isOfRoot) return undefined;
  return `it belongs to user ${uid}. Choose another DATA_DIR, or run as that user.`;
}

/** Undefined if there is no such file. A link is refused: in a folder of another user it may lead to a secret of root. */
export function readPrivate(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    return readFileSync(file, 'utf8');
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? undefined : explain(error, path);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Of mode 0600. Readers and crashes never see a part of it, and it is on the disk when this returns. */
export const writePrivate = (path: string, content: string): void => {
  publish(path, content, renameSync);
};

/** The same for a file that must not exist; returns false if it does. Of several processes at once one succeeds. */
export const createPrivate = (path: string, content: string): boolean => publish(path, content, linkSync);

function publish(path: string, content: string, move: (draft: string, path: string) => void): boolean {
  const folder = dirname(path);
  refuseOpen(folder);
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  try {
    const owner = ownerOf(folder);
    withFile(draft, 'wx', (file) => {
      if (isRoot()) fchownSync(file, owner.uid, owner.gid);
      writeFileSync(file, content);
      fsyncSync(file);
    });
    move(draft, path);
    withFile(folder, 'r', fsyncSync);
    return true;
  } catch (error) {
    if (move === linkSync && codeOf(error) === 'EEXIST') return false;
    return explain(error, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

function withFile(path: string, flags: string, use: (file: number) => void): void {
  const file = openSync(path, flags, 0o600);
  try {
    use(file);
  } finally {
    closeSync(file);
  }
}

// The user that works in a folder. PostgreSQL refuses to run as root, so root runs it as `nobody`, a user that exists
// everywhere, or as the owner of the folder. That owner may have planted links, so root follows none of them in its folder.

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
