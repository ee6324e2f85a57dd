// Where the database is: in `DATA_DIR/postgres`. If PostgreSQL's user cannot enter DATA_DIR, that path is a link
// to a folder under /var/lib. The link keeps the choice when folders are moved or their modes change.
import { createHash } from 'node:crypto';
import { lstat, mkdir, readlink, realpath, stat, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { makeFolder, openFolder, setFolderMode, UnsafeFile, type Owner } from '../private-files.ts';
import { canReach, chownTree, isRoot, nobody, type Identity } from './identity.ts';

/** The folders of one embedded database, and the user that owns them. */
export interface Place {
  /** DATA_DIR, absolute and without symbolic links. It contains the password. */
  root: string;
  /** `DATA_DIR/postgres`, or the target of that link. */
  directory: string;
  /** The cluster, PostgreSQL's PGDATA. */
  data: string;
  /** The user that PostgreSQL runs as; undefined for our own. */
  identity: Identity | undefined;
}

export type Log = (message: string) => void;

/** Belongs to root. For what PostgreSQL's user must reach, while it cannot enter the folders of the service. */
const systemFolder = '/var/lib/payments-service';

export async function makeSystemFolder(): Promise<string> {
  await mkdir(systemFolder, { recursive: true });
  setFolderMode(systemFolder, 0o711);
  return systemFolder;
}

/**
 * Creates DATA_DIR if it is missing and returns its real path. Created by root, it has mode 0711: PostgreSQL runs
 * as another user and must pass through, but must not list it. Every secret in it has mode 0600.
 */
export async function makeDataDirectory(dataDir: string): Promise<string> {
  const path = resolve(dataDir);
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first !== undefined && isRoot()) {
    // `mkdir` applies the umask, and parent folders that it created need the mode too.
    for (let made = path; made.length >= first.length; made = dirname(made)) setFolderMode(made, 0o711);
  }
  openFolder(path).close();
  return realpath(path);
}

/** Finds an existing database and creates nothing. */
export async function findPlace(dataDir: string): Promise<Place | undefined> {
  const directory = await realpath(join(dataDir, 'postgres')).catch(() => undefined);
  if (directory === undefined) return undefined;
  openFolder(directory).close();
  return { root: await realpath(dataDir), directory, data: join(directory, 'data'), identity: undefined };
}

export async function choosePlace(root: string, log: Log): Promise<Place> {
  const path = join(root, 'postgres');
  const { directory, identity } = isRoot() ? await chooseForRoot(root, path, log) : await useOwn(root, path);
  // Others could put a socket of their own there, and be told the password.
  openFolder(directory).close();
  if (identity && !(await canReach(directory, identity))) {
    throw new Error(
      `PostgreSQL runs as user ${identity.uid}, who cannot enter ${directory}: open its parent folders (chmod o+x), ` +
        'choose another DATA_DIR, or set DATABASE_URL.',
    );
  }
  return { root, directory, data: join(directory, 'data'), identity };
}

type Choice = Pick<Place, 'directory' | 'identity'>;

async function useOwn(root: string, path: string): Promise<Choice> {
  const link = await readlink(path).catch(() => undefined);
  await mkdir(link === undefined ? path : resolve(root, link), { recursive: true, mode: 0o700 });
  return { directory: await realpath(path), identity: undefined };
}

/**
 * In a DATA_DIR of root's own, PostgreSQL runs as the owner of the database folder, or as nobody. In that of another user it
 * runs as that user, who can put any folder or link there: nothing of what is found there may be handed over.
 */
async function chooseForRoot(root: string, path: string, log: Log): Promise<Choice> {
  const owner = await stat(root);
  const found = await lstat(path).catch(() => undefined);
  if (!found) return create(root, path, owner.uid === 0 ? await nobody() : await identityOf(owner), log);

  const target = found.isSymbolicLink() ? resolve(root, await readlink(path)) : path;
  // Only root can have made this link.
  const isOurLink = found.isSymbolicLink() && found.uid === 0 && /^[0-9a-f]{16}(-\d+)?$/.test(nameIn(target));
  const isTrusted = owner.uid === 0 || isOurLink;
  if (isTrusted && !(await stat(path).catch(() => undefined))) makeFolder(target, await nobody()).close();
  const directory = await realpath(path);
  const { uid, gid } = await stat(directory);
  if (!isTrusted && uid !== owner.uid) {
    throw new UnsafeFile(
      `${path} leads to a folder that belongs to user ${uid}, but ${root} belongs to user ${owner.uid}: ` +
        'remove the link, or give both to the same user.',
    );
  }
  const identity = uid === 0 ? await nobody() : await identityOf({ uid, gid });
  // An interrupted start, or a copy that root restored.
  if (uid === 0) await chownTree(directory, identity);
  if (isOurLink) log(`PostgreSQL runs as nobody, who cannot enter ${root}: its data is in ${directory}.`);
  return { directory, identity };
}

/** The name of an entry of the system folder; empty for other paths. */
const nameIn = (path: string): string =>
  dirname(path) === systemFolder ? path.slice(dirname(path).length + 1) : '';

async function create(root: string, path: string, identity: Identity, log: Log): Promise<Choice> {
  if (await canReach(root, identity)) {
    makeFolder(path, identity).close();
    return { directory: path, identity };
  }
  const directory = await linkToSystemFolder(root, path, log);
  makeFolder(directory, identity).close();
  log(`PostgreSQL runs as nobody, who cannot enter ${root}: its data is in ${directory}.`);
  return { directory, identity };
}

/** Chooses a folder that `nobody` can enter, and makes `DATA_DIR/postgres` a link to it. */
async function linkToSystemFolder(root: string, link: string, log: Log): Promise<string> {
  const parent = await makeSystemFolder();
  const digest = createHash('sha256').update(root).digest('hex').slice(0, 16);
  const taken = (path: string) => lstat(path).then(Boolean, () => false);
  let target = join(parent, digest);
  // A target without our link belongs to an earlier DATA_DIR at this path, which had another password.
  for (let next = 2; await taken(target); next++) {
    log(`${target} contains the database of an earlier ${root}: remove it if it is no longer needed.`);
    target = join(parent, `${digest}-${next}`);
  }
  await symlink(target, link);
  return target;
}

/** Never the group of root, which a folder has that root gave to its owner by `chown USER`. */
async function identityOf({ uid, gid }: Owner): Promise<Identity> {
  return { uid, gid: gid === 0 ? (await nobody()).gid : gid };
}
