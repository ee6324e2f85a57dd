// The database cluster on disk, and `postmaster.pid`, in which a running PostgreSQL writes its process ID and port.
import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { chownTree } from './identity.ts';
import type { Place } from './placement.ts';
import { isPostmasterOf, run, startTimeOf } from './process.ts';
import { user } from './settings.ts';

/** Not the environment of the caller: PGDATA, PGOPTIONS or a locale would change what PostgreSQL does. */
export const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' };

export async function hasCluster(place: Place): Promise<boolean> {
  return lstat(join(place.data, 'PG_VERSION')).then(Boolean, () => false);
}

/** Removes what a killed process left incomplete. An initdb that still runs there then fails and exits. */
export async function removeDrafts(place: Place): Promise<void> {
  for (const name of await readdir(place.directory)) {
    if (!name.startsWith('new-')) continue;
    // A failure does no harm: draft names are unique, and the next start tries again.
    await rm(join(place.directory, name), { recursive: true, maxRetries: 5, retryDelay: 50 }).catch(
      () => undefined,
    );
  }
}

/** Creates the cluster in a draft folder and renames it when it is complete. */
export async function createCluster(place: Place, binaries: Binaries, password: string): Promise<void> {
  const draft = join(place.directory, `new-cluster-${randomBytes(6).toString('hex')}`);
  await mkdir(draft, { mode: 0o700 });
  const passwordFile = join(draft, 'password');
  await writeFile(passwordFile, password, { mode: 0o600, flag: 'wx' });
  await chownTree(draft, place.identity);
  // The builtin locale: an upgrade of the operating system could change its locales and so break the indexes.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const access = [`--username=${user}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
  const data = join(draft, 'data');
  try {
    await run(binaries.initdb, ['-D', data, ...access, ...locale, '--no-instructions'], {
      ...place.identity,
      cwd: draft,
      env: environment,
    });
  } catch (error) {
    const reason = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new Error(`The embedded PostgreSQL could not be created: ${reason}`, { cause: error });
  }
  await rename(data, place.data);
  await rm(draft, { recursive: true });
}

export interface Postmaster {
  pid: number;
  port: number;
  ready: boolean;
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
  return { pid, port: Number(lines[3]), ready: lines[7] === 'ready' };
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
  await rm(join(place.data, 'postmaster.pid'), { force: true });
}
