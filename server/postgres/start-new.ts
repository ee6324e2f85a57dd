// Starts PostgreSQL where none runs; creates the cluster first if there is none.
import { setTimeout as sleep } from 'node:timers/promises';
import { choosePort, savePort, socketAddress, type Address } from './address.ts';
import { findPackage, prepareBinaries } from './binaries.ts';
import { createCluster, findPostmaster, hasCluster, removeDrafts, removeStalePidFile } from './cluster.ts';
import type { EmbeddedOptions } from './index.ts';
import type { Log, Place } from './placement.ts';
import { isUsable, start, stop } from './postmaster.ts';
import type { Watched } from './watchdog.ts';

export interface StartedPostgres {
  address: Address;
  watched: Watched;
}

/** Starts PostgreSQL on its socket; without sockets on the port of its last start, or a new one if that is taken. */
async function startSomewhere(
  place: Place,
  postgres: string,
  settings: readonly string[],
): Promise<StartedPostgres> {
  let socket = socketAddress(place);
  let needsNewPort = false;
  for (let attempt = 0; attempt < 20; attempt++) {
    const address = socket ?? { port: await choosePort(place, needsNewPort) };
    const result = await start(place, postgres, address, settings);
    if (typeof result !== 'string') return { address, watched: result };
    if (result === 'no sockets') socket = undefined;
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
  { packageFolder, settings = [] }: Pick<EmbeddedOptions, 'packageFolder' | 'settings'>,
): Promise<StartedPostgres> {
  await removeDrafts(place);
  await removeStalePidFile(place);
  const binaries = await prepareBinaries(packageFolder ?? findPackage(), place, log);
  if (!(await hasCluster(place))) await createCluster(place, binaries, password);
  const started = await startSomewhere(place, binaries.postgres, settings);
  try {
    if (!(await isUsable(started.address, password)))
      throw new Error('The embedded PostgreSQL runs but does not answer.');
    if ('port' in started.address) savePort(place, started.address.port);
    return started;
  } catch (error) {
    started.watched.release();
    throw error;
  }
}
