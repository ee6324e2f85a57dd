// The cluster on disk: made once, and the file in which a running PostgreSQL says who and where it is.
import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { give } from './identity.ts';
import type { Place } from './placement.ts';
import { run, startOf, servesData } from './process.ts';
import { user } from './settings.ts';

/** Nothing of the caller's environment: PGDATA, PGOPTIONS or a locale would change what PostgreSQL does. */
export const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' };

export async function hasCluster(place: Place): Promise<boolean> {
  return lstat(join(place.data, 'PG_VERSION')).then(Boolean, () => false);
}

/**
 * Removes what was being made when somebody was killed. An initdb that outlived its caller then ends by
 * itself.
 */
export async function clearDrafts(place: Place): Promise<void> {
  for (const name of await readdir(place.directory)) {
    if (!name.startsWith('new-')) continue;
    // What cannot be removed now is removed at the next start: drafts have names of their own.
    await rm(join(place.directory, name), { recursive: true, maxRetries: 5, retryDelay: 50 }).catch(
      () => undefined,
    );
  }
}

/** Makes the cluster aside and puts it in its place when it is whole. */
export async function makeCluster(place: Place, binaries: Binaries, password: string): Promise<void> {
  const draft = join(place.directory, `new-cluster-${randomBytes(6).toString('hex')}`);
  await mkdir(draft, { mode: 0o700 });
  const passwordFile = join(draft, 'password');
  await writeFile(passwordFile, password, { mode: 0o600, flag: 'wx' });
  await give(draft, place.identity);
  // Builtin: no locale of the system, which an upgrade could change under the indexes.
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
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new Error(`The embedded PostgreSQL could not be made: ${said}`, { cause: error });
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
 * What `postmaster.pid` says, believed or not. Lines: pid, data folder, start, port, socket, host, memory,
 * state.
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
  return found && (await servesData(found.pid, place.data)) ? found : undefined;
}

/**
 * After a crash or a restart of the machine the number in `postmaster.pid` may be that of some other program,
 * for which PostgreSQL would refuse to start. A file of a dead process it judges itself, and better: it looks
 * for surviving children too.
 */
export async function clearStale(place: Place): Promise<void> {
  const found = await readPostmaster(place);
  if (!found || (await servesData(found.pid, place.data)) || (await startOf(found.pid)) === undefined) return;
  await rm(join(place.data, 'postmaster.pid'), { force: true });
}
