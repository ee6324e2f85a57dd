// Where the database is: in `DATA_DIR/postgres`. If PostgreSQL's user cannot enter DATA_DIR, that path is a link
// to a folder under /var/lib. The link keeps the choice when folders are moved or their modes change.
import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, readlink, realpath, stat, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
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

const fallbackParent = '/var/lib/payments-service';

/**
 * Creates DATA_DIR if it is missing and returns its real path. Created by root, it has mode 0711: PostgreSQL runs
 * as another user and must pass through, but must not list it. Every secret in it has mode 0600.
 */
export async function makeDataDirectory(dataDir: string): Promise<string> {
  const path = resolve(dataDir);
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first !== undefined && isRoot()) {
    // `mkdir` applies the umask, and parent folders that it created need the mode too.
    for (let made = path; made.length >= first.length; made = dirname(made)) await chmod(made, 0o711);
  }
  return realpath(path);
}

/** Finds an existing database and creates nothing. */
export async function findPlace(dataDir: string): Promise<Place | undefined> {
  try {
    const root = await realpath(dataDir);
    const directory = await realpath(join(root, 'postgres'));
    return { root, directory, data: join(directory, 'data'), identity: undefined };
  } catch {
    return undefined;
  }
}

/** Chooses a folder that `nobody` can enter, and makes `DATA_DIR/postgres` a link to it. */
async function linkToFallback(root: string, link: string, log: Log): Promise<string> {
  await mkdir(fallbackParent, { recursive: true });
  await chmod(fallbackParent, 0o711);
  const digest = createHash('sha256').update(root).digest('hex').slice(0, 16);
  const taken = (path: string) => lstat(path).then(Boolean, () => false);
  let target = join(fallbackParent, digest);
  // A target without our link belongs to an earlier DATA_DIR at this path, which had another password.
  for (let next = 2; await taken(target); next++) {
    log(`${target} contains the database of an earlier ${root}: remove it if it is no longer needed.`);
    target = join(fallbackParent, `${digest}-${next}`);
  }
  await symlink(target, link);
  return target;
}

export async function choosePlace(root: string, log: Log): Promise<Place> {
  const path = join(root, 'postgres');
  const found = await stat(path).catch(() => undefined);
  let fallback = await readlink(path).catch(() => undefined);
  let identity: Identity | undefined;
  if (isRoot()) {
    // A database that an ordinary user created keeps its owner, also when root starts it.
    identity = found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : await nobody();
    if (!found && fallback === undefined && !(await canReach(root, identity)))
      fallback = await linkToFallback(root, path, log);
  }
  await mkdir(fallback ?? path, { recursive: true, mode: 0o700 });
  const directory = await realpath(path);
  await chownTree(directory, identity);
  if (identity && !(await canReach(directory, identity))) {
    throw new Error(
      `PostgreSQL runs as user ${identity.uid}, who cannot enter ${directory}: open its parent folders (chmod o+x), ` +
        'choose another DATA_DIR, or set DATABASE_URL.',
    );
  }
  if (fallback !== undefined) {
    log(`PostgreSQL runs as nobody, who cannot enter ${root}: its data is in ${directory}.`);
  }
  return { root, directory, data: join(directory, 'data'), identity };
}
