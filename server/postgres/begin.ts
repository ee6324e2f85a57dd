// Starting PostgreSQL where none runs, from an empty folder if need be.
import { setTimeout as sleep } from 'node:timers/promises';
import { findPackage, prepareBinaries } from './binaries.ts';
import { clearDrafts, clearStale, findPostmaster, hasCluster, makeCluster } from './cluster.ts';
import type { Log, Place } from './placement.ts';
import { isUsable, start, stop } from './postmaster.ts';
import { choosePort, keepPort } from './settings.ts';
import type { Watched } from './watchdog.ts';

export interface Begun {
  port: number;
  watched: Watched;
}

/** Starts PostgreSQL on the port it had last, or on another if somebody else has that now. */
async function startOnPort(place: Place, postgres: string): Promise<Begun> {
  let anew = false;
  for (let attempt = 0; attempt < 20; attempt++) {
    const port = await choosePort(place, anew);
    const result = await start(place, postgres, port);
    if (result !== 'port taken' && result !== 'still running') return { port, watched: result };
    if (result === 'port taken') anew = true;
    // Begun by somebody who was killed before it could be seen: its watchdog is stopping it.
    const other = await findPostmaster(place);
    if (other) await stop(place, other.pid);
    await sleep(50);
  }
  throw new Error(`The embedded PostgreSQL finds no free port, or something else uses ${place.data}.`);
}

export async function begin(
  place: Place,
  password: string,
  log: Log,
  packageFolder?: string,
): Promise<Begun> {
  await clearDrafts(place);
  await clearStale(place);
  const binaries = await prepareBinaries(packageFolder ?? findPackage(), place, log);
  if (!(await hasCluster(place))) await makeCluster(place, binaries, password);
  const begun = await startOnPort(place, binaries.postgres);
  try {
    if (!(await isUsable(begun.port, password)))
      throw new Error('The embedded PostgreSQL runs but does not answer.');
    await keepPort(place, begun.port);
    return begun;
  } catch (error) {
    begun.watched.release();
    throw error;
  }
}
