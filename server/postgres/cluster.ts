// The database cluster on disk, and `postmaster.pid`, in which a running PostgreSQL writes its process ID and address.
import { randomBytes } from 'node:crypto';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Address } from './address.ts';
import type { Binaries } from './binaries.ts';
import type { Place } from './placement.ts';
import { isPostmasterOf, startTimeOf } from './process.ts';
import { user } from './settings.ts';
import { runScript } from './shell.ts';

export async function hasCluster(place: Place): Promise<boolean> {
  return lstat(join(place.data, 'PG_VERSION')).then(Boolean, () => false);
}

/** Removes what a killed process left incomplete. An initdb that still runs there then fails and exits. */
export async function removeDrafts(place: Place): Promise<void> {
  if (!(await readdir(place.directory)).some((name) => name.startsWith('new-'))) return;
  // A failure does no harm: draft names are unique, and the next start tries again.
  const script = 'for try in 1 2 3 4 5; do rm -rf ./new-* && break; sleep 0.1; done';
  await runScript(place, script).catch(() => undefined);
}

const initialize = `
mkdir "$1" && cat >"$1/password" || exit 1
draft=$1; initdb=$2; shift 2
exec "$initdb" -D "$draft/data" --pwfile="$draft/password" "$@"`;

/**
 * Creates the cluster in a draft folder and renames it when it is complete. Two scripts, because a script outlives us if we
 * are killed, and then it must not rename while the next starter removes the draft.
 */
export async function createCluster(place: Place, binaries: Binaries, password: string): Promise<void> {
  const draft = join(place.directory, `new-cluster-${randomBytes(6).toString('hex')}`);
  // The builtin locale: an upgrade of the operating system could change its locales and so break the indexes.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const access = [`--username=${user}`, '--auth=scram-sha-256'];
  const options = [...access, ...locale, '--no-instructions'];
  try {
    await runScript(place, initialize, [draft, binaries.initdb, ...options], password);
    await runScript(place, 'mv "$1/data" "$2" && rm -r "$1"', [draft, place.data]);
  } catch (error) {
    const reason = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new Error(`The embedded PostgreSQL could not be created: ${reason}`, { cause: error });
  }
}

export interface Postmaster {
  pid: number;
  /** Undefined until it is ready: before that the file may lack the socket. */
  address: Address | undefined;
}

/**
 * The content of `postmaster.pid`, which may be stale. Its lines: pid, data folder, start, port, socket, host,
 * memory, state.
 */
export async function readPostmaster(place: Place): Promise<Postmaster | undefined> {
  const text = await readFile(join(place.data, 'postmaster.pid'), 'utf8').catch(() => undefined);
  const lines = text?.split('\n').map((line) => line.trim());
  const pid = Number(lines?.[0]);
  if (!lines || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (lines[7] !== 'ready') return { pid, address: undefined };
  // A version before sockets may have started it: then the line of the socket is empty.
  return { pid, address: lines[4] === '' ? { port: Number(lines[3]) } : { socket: place.directory } };
}

/** The PostgreSQL that runs on this cluster, ready or not. */
export async function findPostmaster(place: Place): Promise<Postmaster | undefined> {
  const found = await readPostmaster(place);
  return found && (await isPostmasterOf(found.pid, place.data)) ? found : undefined;
}

/**
 * After a reboot another program may have the process ID in `postmaster.pid`, and PostgreSQL would refuse to
 * start. If no process has that ID, PostgreSQL handles the file itself, and also looks for surviving children.
 */
export async function removeStalePidFile(place: Place): Promise<void> {
  const found = await readPostmaster(place);
  if (!found || (await isPostmasterOf(found.pid, place.data))) return;
  if ((await startTimeOf(found.pid)) === undefined) return;
  await runScript(place, 'rm -f "$1"', [join(place.data, 'postmaster.pid')]);
}
