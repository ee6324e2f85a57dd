// Starts PostgreSQL where none runs; creates the cluster first if there is none.
import { setTimeout as sleep } from 'node:timers/promises';
import { findPackage, prepareBinaries } from './binaries.ts';
import { createCluster, findPostmaster, hasCluster, removeDrafts, removeStalePidFile } from './cluster.ts';
import type { Log, Place } from './placement.ts';
import { isUsable, start, stop } from './postmaster.ts';
import { choosePort, savePort } from './settings.ts';
import type { Watched } from './watchdog.ts';

export interface StartedPostgres {
  port: number;
  watched: Watched;
}

/** Starts PostgreSQL on the port of its last start, or on a new one if that port is taken. */
async function startOnPort(place: Place, postgres: string): Promise<StartedPostgres> {
  let needsNewPort = false;
  for (let attempt = 0; attempt < 20; attempt++) {
    const port = await choosePort(place, needsNewPort);
    const result = await start(place, postgres, port);
    if (result !== 'port taken' && result !== 'still running') return { port, watched: result };
    if (result === 'port taken') needsNewPort = true;
    // Another process started it and was killed at once; its watchdog is stopping it already.
    const other = await findPostmaster(place);
    if (other) await stop(place, other.pid);
    await sleep(50);
  }
  throw new Error(
    `The embedded PostgreSQL found no free port, or another PostgreSQL is using ${place.data}.`,
  );
}

export async function startNew(
  place: Place,
  password: string,
  log: Log,
  packageFolder?: string,
): Promise<StartedPostgres> {
  await removeDrafts(place);
  await removeStalePidFile(place);
  const binaries = await prepareBinaries(packageFolder ?? findPackage(), place, log);
  if (!(await hasCluster(place))) await createCluster(place, binaries, password);
  const started = await startOnPort(place, binaries.postgres);
  try {
    if (!(await isUsable(started.port, password)))
      throw new Error('The embedded PostgreSQL runs but does not answer.');
    savePort(place, started.port);
    return started;
  } catch (error) {
    started.watched.release();
    throw error;
  }
}
