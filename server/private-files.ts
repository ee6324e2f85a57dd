// Files and folders in DATA_DIR. Root may work there although the folder belongs to another user, who can replace every name
// in it at any moment. So a folder is opened once and checked, names are looked up relative to that handle, links are not
// followed, and a file gets the owner of the folder it is in, through its own handle.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { OperatorFault } from './operator-fault.ts';

/** A folder or file that cannot be trusted. The message tells the operator what to do. */
export class UnsafeFile extends OperatorFault {}

export interface Owner {
  uid: number;
  gid: number;
}

export interface Folder {
  /** The path of an entry, which stays in this folder even if the folder is moved or replaced. */
  at(name?: string): string;
  handle: number;
  owner: Owner;
  close(): void;
}

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;
const ourUid = () => process.getuid?.() ?? 0;

function open(path: string, name = path): Folder {
  let handle: number;
  try {
    handle = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (codeOf(error) !== 'ELOOP' && codeOf(error) !== 'ENOTDIR') throw error;
    throw new UnsafeFile(`${name} is a link or a file, but it must be a folder: remove it.`);
  }
  const { uid, gid } = fstatSync(handle);
  // Node has no openat(2). Linux resolves these paths by the handle; elsewhere the path is used.
  const byHandle = `/proc/self/fd/${handle}`;
  const base = existsSync(byHandle) ? byHandle : path;
  return {
    at: (entry = '.') => join(base, entry),
    handle,
    owner: { uid, gid },
    close: () => {
      closeSync(handle);
    },
  };
}

/** The operator may name a folder by a link; what it contains may not be one. */
const openNamed = (path: string): Folder => open(realpathSync(path), path);

/** Refuses a folder in which users other than its owner, root and us could plant files. */
export function openFolder(path: string): Folder {
  const folder = openNamed(path);
  const { uid, gid, mode } = fstatSync(folder.handle);
  const us = ourUid();
  const fault =
    (mode & 0o002) !== 0
      ? `everybody may write to it. Close it: chmod o-w ${path}`
      : us === 0 && uid === 0 && gid !== 0 && (mode & 0o020) !== 0
        ? `its group may write to it. Close it: chmod g-w ${path}`
        : us !== 0 && uid !== us && uid !== 0
          ? `it belongs to user ${uid}. Choose another DATA_DIR, or run as that user.`
          : undefined;
  if (fault === undefined) return folder;
  folder.close();
  throw new UnsafeFile(`${path} cannot keep secrets: ${fault}`);
}

export function inFolder<T>(path: string, work: (folder: Folder) => T): T {
  const folder = openFolder(path);
  try {
    return work(folder);
  } finally {
    folder.close();
  }
}

/** Opens a folder, and creates it with mode 0700 if it is missing. It belongs to `owner`, by default that of its parent. */
export function makeFolder(path: string, owner?: Owner): Folder {
  const parent = openNamed(dirname(path));
  try {
    const wanted = owner ?? parent.owner;
    const entry = parent.at(basename(path));
    try {
      mkdirSync(entry, { mode: 0o700 });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const folder = open(entry, path);
    try {
      const isOurs = folder.owner.uid === ourUid();
      if (ourUid() === 0 && isOurs && wanted.uid !== 0) fchownSync(folder.handle, wanted.uid, wanted.gid);
      else if (!isOurs && folder.owner.uid !== wanted.uid)
        throw new UnsafeFile(`${path} belongs to user ${folder.owner.uid}: remove it.`);
    } catch (error) {
      folder.close();
      throw error;
    }
    return folder;
  } finally {
    parent.close();
  }
}

/** Changes the mode of a folder that we have just created. */
export function setFolderMode(path: string, mode: number): void {
  const folder = open(path);
  try {
    if (folder.owner.uid !== ourUid()) throw new UnsafeFile(`${path} was replaced by another user.`);
    fchmodSync(folder.handle, mode);
  } finally {
    folder.close();
  }
}

/** Undefined if there is no such file. Links are followed only in a folder of our own. */
export function readPrivate(path: string): string | undefined {
  let handle: number | undefined;
  try {
    const parent = openNamed(dirname(path));
    try {
      const isOurs = parent.owner.uid === ourUid();
      // Without O_NONBLOCK, opening a planted pipe would wait for ever.
      handle = openSync(parent.at(basename(path)), O_RDONLY | O_NONBLOCK | (isOurs ? 0 : O_NOFOLLOW));
    } finally {
      parent.close();
    }
    if (!fstatSync(handle).isFile()) throw new UnsafeFile(`${path} is not a file: remove it.`);
    return readFileSync(handle, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (codeOf(error) === 'ELOOP')
      throw new UnsafeFile(`${path} is a link, in a folder of another user: remove it.`);
    throw error;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

// The random name cannot be predicted, and O_EXCL refuses one that exists, a link included.
function writeDraft(folder: Folder, name: string, content: string): string {
  const draft = folder.at(`${name}.${randomBytes(8).toString('hex')}`);
  const handle = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    writeFileSync(handle, content);
    if (ourUid() === 0 && folder.owner.uid !== 0) fchownSync(handle, folder.owner.uid, folder.owner.gid);
    fsyncSync(handle);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
  return draft;
}

/**
 * Writes a file of mode 0600 atomically, so that readers and crashes never see a partial one, and syncs it to disk before it
 * returns.
 */
export function writePrivate(path: string, content: string): void {
  inFolder(dirname(path), (folder) => {
    const draft = writeDraft(folder, basename(path), content);
    renameSync(draft, folder.at(basename(path)));
    fsyncSync(folder.handle);
  });
}

/** The same for a file that must not exist; returns false if it does. Of several processes at once one succeeds. */
export function createPrivate(path: string, content: string): boolean {
  return inFolder(dirname(path), (folder) => {
    const draft = writeDraft(folder, basename(path), content);
    try {
      linkSync(draft, folder.at(basename(path)));
      fsyncSync(folder.handle);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  });
}
