// Where the database is, and what runs there: in `DATA_DIR/postgres`. If root runs it as a user who cannot enter DATA_DIR, that
// path is a link to a folder under /var/lib. The link keeps the choice when folders are moved or their modes change.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, OperatorFault } from '../../faults.ts';
import { makeDataDirectory, refuseOpen } from './data-dir.ts';
import { canReach, chownTree, isRoot, nobody, ownerOf, type Identity } from './identity.ts';

/** The folders of one embedded database, and the user that owns them. */
export interface Place {
  /** DATA_DIR, absolute and without symbolic links. It contains the password. */
  root: string;
  /** `DATA_DIR/postgres`, or the target of that link. The cluster is `data` in it. */
  directory: string;
  /** The user that PostgreSQL runs as; undefined for our own. */
  identity: Identity | undefined;
}

export type Log = (message: string) => void;

/** Undefined where the file system has no such entry. */
export function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const systemFolder = '/var/lib/payments-service';

/** Belongs to root. For what PostgreSQL's user must reach, while it cannot enter the folders of the service. */
export function makeSystemFolder(): string {
  mkdirSync(systemFolder, { recursive: true });
  if (ownerOf(systemFolder).uid !== 0)
    throw new OperatorFault(`${systemFolder} must belong to root: chown root ${systemFolder}`);
  chmodSync(systemFolder, 0o711);
  return systemFolder;
}

/** Finds an existing database folder and creates nothing. */
export function findPlace(dataDir: string): Place | undefined {
  const directory = ifThere(() => realpathSync(join(dataDir, 'postgres')));
  if (directory === undefined) return undefined;
  const root = realpathSync(dataDir);
  const [owner, identity] = [ownerOf(root), ownerOf(directory)];
  // Whoever owns DATA_DIR can put a link to any folder there.
  if (isRoot() && owner.uid !== 0 && owner.uid !== identity.uid)
    throw new OperatorFault(
      `${root}/postgres leads to a folder that belongs to user ${identity.uid}, but ${root} belongs to user ${owner.uid}: ` +
        'remove the link, or give both to the same user.',
    );
  // Others could put a socket of their own there, and be told the password.
  refuseOpen(directory);
  if (!isRoot()) return { root, directory, identity: undefined };
  return { root, directory, identity: identity.uid === 0 ? nobody() : identity };
}

/** Creates the folder if it is missing. */
export function makePlace(dataDir: string, log: Log): Place {
  const root = makeDataDirectory(dataDir);
  if (!findPlace(root)) create(root, log);
  const place = findPlace(root);
  if (!place) throw new OperatorFault(`${root}/postgres was removed while it was created: start again.`);
  const { directory, identity } = place;
  if (!identity) return place;
  // An interrupted start, or a copy that root restored.
  if (ownerOf(directory).uid === 0) chownTree(directory, identity);
  if (!canReach(directory, identity))
    throw new OperatorFault(
      `PostgreSQL runs as user ${identity.uid}, who cannot enter ${directory}: open its parent folders (chmod o+x), ` +
        'choose another DATA_DIR, or set DATABASE_URL.',
    );
  if (dirname(directory) === systemFolder)
    log(`PostgreSQL runs as nobody, who cannot enter ${root}: its data is in ${directory}.`);
  return place;
}

function create(root: string, log: Log): void {
  const path = join(root, 'postgres');
  const isRoots = isRoot() && ownerOf(root).uid === 0;
  // Another start at the same time may have made the folder by now.
  const isLink = ifThere(() => lstatSync(path))?.isSymbolicLink() === true;
  if (isLink && isRoot() && !isRoots)
    throw new OperatorFault(`${path} is a link of another user, which root does not follow: remove it.`);
  const target = isLink
    ? resolve(root, readlinkSync(path))
    : !isRoots || canReach(root, nobody())
      ? path
      : linkToSystemFolder(root, path, log);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  if (!isRoot()) return;
  const { uid, gid } = isRoots ? nobody() : ownerOf(root);
  lchownSync(target, uid, gid);
}

/** Chooses a folder that `nobody` can enter, and makes `DATA_DIR/postgres` a link to it. */
function linkToSystemFolder(root: string, link: string, log: Log): string {
  const first = join(makeSystemFolder(), createHash('sha256').update(root).digest('hex').slice(0, 16));
  let target = first;
  for (let next = 2; ifThere(() => lstatSync(target)); next++) target = `${first}-${next}`;
  try {
    symlinkSync(target, link);
  } catch (error) {
    // Another start at the same time was quicker.
    if (codeOf(error) !== 'EEXIST') throw error;
    return readlinkSync(link);
  }
  // It had another password.
  if (target !== first)
    log(`${first} contains the database of an earlier ${root}: remove it if it is no longer needed.`);
  return target;
}

export const run = promisify(execFile);

/**
 * Runs a script as the user that PostgreSQL runs as, in its folder. Root must not change anything in there itself: that user can
 * exchange a file or folder for a link between two of our calls. `$1` and so on are the arguments; `input` is its standard
 * input, for what must not be an argument.
 */
export async function runScript(
  place: Place,
  script: string,
  args: string[] = [],
  input = '',
): Promise<void> {
  const running = run('/bin/sh', ['-c', `umask 077\n${script}`, 'payments-database', ...args], {
    ...place.identity,
    cwd: place.directory,
    // Not our environment: PGDATA, PGOPTIONS or a locale would change what PostgreSQL does.
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' },
  });
  // The script may end without reading its input.
  running.child.stdin?.on('error', () => undefined).end(input);
  await running;
}
