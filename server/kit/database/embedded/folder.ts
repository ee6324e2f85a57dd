// The folder of the database, and what runs there: `DATA_DIR/postgres`. If root runs PostgreSQL as a user who cannot enter DATA_DIR,
// that path is a link to a folder under /var/lib. The link keeps the choice when folders are moved or their modes change.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  accessSync,
  chmodSync,
  constants,
  lchownSync,
  mkdirSync,
  realpathSync,
  rmdirSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { packageName, programName } from '../../../../generated/operations.ts';
import { codeOf, OperatorFault } from '../../faults.ts';
import {
  makeDataDirectory,
  refuseOpen,
  canReach,
  chownTree,
  explain,
  isRoot,
  nobody,
  ownerOf,
  type Identity,
} from './data-dir.ts';

export interface DatabaseFolder {
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

const systemFolder = `/var/lib/${packageName}`;

/** Belongs to root. For what PostgreSQL's user must reach, while it cannot enter the folders of the service. */
export function makeSystemFolder(): string {
  mkdirSync(systemFolder, { recursive: true });
  if (ownerOf(systemFolder).uid !== 0)
    throw new OperatorFault(`${systemFolder} must belong to root: chown root ${systemFolder}`);
  chmodSync(systemFolder, 0o711);
  return systemFolder;
}

/** Finds an existing database folder and creates nothing. */
export function findFolder(dataDir: string): DatabaseFolder | undefined {
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
  return { root, directory, identity: toOther(identity) };
}

export function makeFolder(dataDir: string, log: Log): DatabaseFolder {
  const root = makeDataDirectory(dataDir);
  let folder: DatabaseFolder | undefined;
  try {
    if (!findFolder(root)) create(root, log);
    folder = findFolder(root);
    if (folder) accessSync(folder.directory, constants.W_OK);
  } catch (error) {
    explain(error, root);
  }
  if (!folder)
    throw new OperatorFault(`${root}/postgres is a link to a folder that does not exist: remove the link.`);
  const { directory, identity } = folder;
  if (!identity) return folder;
  // An interrupted start, or a copy that root restored.
  if (ownerOf(directory).uid === 0) chownTree(directory, identity);
  if (!canReach(directory, identity))
    throw new OperatorFault(
      `PostgreSQL runs as user ${identity.uid}, who cannot enter ${directory}: open its parent folders (chmod o+x), ` +
        'choose another DATA_DIR, or set DATABASE_URL.',
    );
  if (dirname(directory) === systemFolder)
    log(`PostgreSQL runs as user ${identity.uid}, who cannot enter ${root}: its data is in ${directory}.`);
  return folder;
}

/** For the user that PostgreSQL will run as: for root that is whoever else owns DATA_DIR, or `nobody`. */
function create(root: string, log: Log): void {
  const path = join(root, 'postgres');
  const owner = ownerOf(root);
  const identity = isRoot() ? toOther(owner) : undefined;
  if (!identity || canReach(root, identity)) tryMake(path, identity);
  else linkToSystemFolder(root, path, identity, log);
}

/** PostgreSQL refuses to run as root. */
const toOther = (owner: Identity): Identity => (owner.uid === 0 ? nobody() : owner);

/** False if there is something of this name, perhaps by another start at the same time. */
function tryMake(path: string, owner?: Identity): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  if (owner) lchownSync(path, owner.uid, owner.gid);
  return true;
}

/** Makes a folder that this user can enter, and a link to it. */
function linkToSystemFolder(root: string, link: string, identity: Identity, log: Log): void {
  const first = join(makeSystemFolder(), createHash('sha256').update(root).digest('hex').slice(0, 16));
  let target = first;
  for (let next = 2; !tryMake(target, identity); next++) target = `${first}-${next}`;
  try {
    symlinkSync(target, link);
  } catch (error) {
    rmdirSync(target);
    // Another start at the same time was quicker.
    if (codeOf(error) === 'EEXIST') return;
    throw error;
  }
  // It had another password.
  if (target !== first)
    log(`${first} contains the database of an earlier ${root}: remove it if it is no longer needed.`);
}

interface RunOptions extends Partial<Identity> {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Its standard input, for what must not be an argument. */
  input?: string;
}

/** Runs a program in a process group of its own: a Ctrl-C at the terminal, which is for us, must not end `initdb` or `pg_ctl` halfway. */
export async function run(
  program: string,
  args: string[],
  { input = '', ...options }: RunOptions = {},
): Promise<{ stdout: string }> {
  const child = spawn(program, args, { ...options, detached: true });
  // It may end without reading its input.
  child.stdin.on('error', () => undefined).end(input);
  const [[status, signal], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null, string | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  if (status === 0) return { stdout };
  throw new Error(stderr.trim() || `${program} ended with ${status ?? signal}`);
}

/**
 * Runs a script as the user that PostgreSQL runs as, in its folder. Root must not change anything in there itself: that user can
 * exchange a file or folder for a link between two of our calls. `$1` and so on are the arguments.
 */
export async function runScript(
  { directory, identity }: DatabaseFolder,
  script: string,
  args: string[] = [],
  input = '',
): Promise<void> {
  await run('/bin/sh', ['-c', `umask 077\n${script}`, `${programName}-database`, ...args], {
    ...identity,
    cwd: directory,
    // Not our environment: PGDATA, PGOPTIONS or a locale would change what PostgreSQL does.
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' },
    input,
  });
}
