// Where the database lives: in `DATA_DIR/postgres`. Where whom it runs as cannot enter DATA_DIR, that name is
// a link to a folder under /var/lib, so that the choice, once made, stays when folders are moved or their
// modes change.
import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, readlink, realpath, stat, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { canReach, give, isRoot, nobody, type Identity } from './identity.ts';

export interface Place {
  /** DATA_DIR, absolute and without symbolic links: holds the password. */
  root: string;
  /** The database's own folder: `DATA_DIR/postgres`, or where that link points. */
  directory: string;
  /** The cluster, PostgreSQL's PGDATA. */
  data: string;
  /** Whom PostgreSQL runs as; undefined for the user we are. */
  identity: Identity | undefined;
}

export type Log = (message: string) => void;

const farHome = '/var/lib/payments-service';

/**
 * Makes DATA_DIR if it is missing and returns its real path. Root's lets others pass through, not look: the
 * database inside runs as somebody else, and every secret in it has mode 0600.
 */
export async function makeDataDirectory(dataDir: string): Promise<string> {
  const wanted = resolve(dataDir);
  const first = await mkdir(wanted, { recursive: true, mode: 0o700 });
  if (first !== undefined && isRoot()) {
    // All that were made, not only the last, and whatever the umask.
    for (let made = wanted; made.length >= first.length; made = dirname(made)) await chmod(made, 0o711);
  }
  return realpath(wanted);
}

/** The place of a database that exists already, without making anything. */
export async function findPlace(dataDir: string): Promise<Place | undefined> {
  try {
    const root = await realpath(dataDir);
    const directory = await realpath(join(root, 'postgres'));
    return { root, directory, data: join(directory, 'data'), identity: undefined };
  } catch {
    return undefined;
  }
}

/** Names a folder that `nobody` can enter, and points `DATA_DIR/postgres` at it. */
async function linkAway(root: string, near: string, log: Log): Promise<string> {
  await mkdir(farHome, { recursive: true });
  await chmod(farHome, 0o711);
  const digest = createHash('sha256').update(root).digest('hex').slice(0, 16);
  const taken = (path: string) => lstat(path).then(Boolean, () => false);
  let target = join(farHome, digest);
  // Without our link it is what a DATA_DIR of this name, removed or renamed since, left: its password is not
  // ours.
  for (let next = 2; await taken(target); next++) {
    log(`${target} holds the database of an earlier ${root}: remove it if nobody needs it.`);
    target = join(farHome, `${digest}-${next}`);
  }
  await symlink(target, near);
  return target;
}

export async function choosePlace(root: string, log: Log): Promise<Place> {
  const near = join(root, 'postgres');
  const found = await stat(near).catch(() => undefined);
  let far = await readlink(near).catch(() => undefined);
  let identity: Identity | undefined;
  if (isRoot()) {
    // What an ordinary user made stays theirs: root only helps out.
    identity = found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : await nobody();
    if (!found && far === undefined && !(await canReach(root, identity)))
      far = await linkAway(root, near, log);
  }
  await mkdir(far ?? near, { recursive: true, mode: 0o700 });
  const directory = await realpath(near);
  await give(directory, identity);
  if (identity && !(await canReach(directory, identity))) {
    throw new Error(
      `PostgreSQL runs as user ${identity.uid}, who cannot enter ${directory}: open its parent folders (chmod o+x), ` +
        'choose another DATA_DIR, or set DATABASE_URL.',
    );
  }
  if (far !== undefined) {
    log(`PostgreSQL runs as nobody, who cannot enter ${root}: its data are kept in ${directory}.`);
  }
  return { root, directory, data: join(directory, 'data'), identity };
}
