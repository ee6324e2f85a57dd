// The embedded PostgreSQL in DATA_DIR, for installations without DATABASE_URL. This folder exports little more
// than a database URL; only database/ and the command line know whether PostgreSQL is embedded.
import { join } from 'node:path';
import { urlOf } from './address.ts';
import { attach } from './attach.ts';
import { findPostmaster, hasCluster } from './cluster.ts';
import { withLock } from './lock.ts';
import { choosePlace, findPlace, makeDataDirectory, type Log } from './placement.ts';
import { probe, stop } from './postmaster.ts';
import { createPassword, missingPassword, readPassword } from './settings.ts';
import { startNew } from './start-new.ts';
import { hasUsers } from './watchdog.ts';

export { makeDataDirectory } from './placement.ts';

export interface EmbeddedDatabase {
  url: string;
  /** False when it was running already; then its starter stops it. */
  started: boolean;
  directory: string;
  /** Stops it if we started it, even if others use it. Otherwise only detaches. */
  stop(): Promise<void>;
  /** Like `stop`, but keeps it running while other processes use it; it stops when the last of them detaches. */
  release(): Promise<void>;
}

export interface EmbeddedOptions {
  dataDir: string;
  log?: Log;
  /** The folder of the package with the binaries; by default that of this platform. */
  packageFolder?: string;
  /** `name=value`, for tests, which need not wait for the disk. */
  settings?: readonly string[];
}

const lockOf = (root: string): string => join(root, 'postgres-lock');

/**
 * Attaches to the database that runs in this DATA_DIR, or starts it. It runs as long as the process that started
 * it; if that process is killed, as long as another process uses it. If it was stopped while in use, call this
 * again: it starts at the same address, unless that is a port which another program has taken.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const log = options.log ?? (() => undefined);
  const root = await makeDataDirectory(options.dataDir);
  return withLock(lockOf(root), async () => {
    const place = await choosePlace(root, log);
    const { directory } = place;
    const saved = readPassword(place);
    if (saved === undefined && (await hasCluster(place))) throw missingPassword(place);
    const password = saved ?? createPassword(place);

    const attached = await attach(place, password);
    if (attached) {
      const detach = (): Promise<void> => {
        attached.detach();
        return Promise.resolve();
      };
      const url = urlOf(attached.address, password);
      return { url, started: false, directory, stop: detach, release: detach };
    }

    const { address, watched } = await startNew(place, password, log, options);
    const end = (evenIfUsed: boolean): Promise<void> =>
      withLock(lockOf(root), async () => {
        const found = await findPostmaster(place);
        // Ours may have stopped, and another process may have started a new one: do not stop that.
        if (found?.pid === watched.pid && (evenIfUsed || !hasUsers(place, found.pid)))
          await stop(place, found.pid);
        watched.release();
      });
    return {
      url: urlOf(address, password),
      started: true,
      directory,
      stop: () => end(true),
      release: () => end(false),
    };
  });
}

/** Whether this DATA_DIR has a database, running or not. Creates nothing. */
export async function hasDatabase(dataDir: string): Promise<boolean> {
  const place = await findPlace(dataDir);
  return place !== undefined && hasCluster(place);
}

/** The URL of the database that runs in this DATA_DIR; undefined if none runs. Neither starts nor attaches. */
export async function runningUrl(dataDir: string): Promise<string | undefined> {
  const place = await findPlace(dataDir);
  const address = place && (await findPostmaster(place))?.address;
  if (!address) return undefined;
  const password = readPassword(place);
  if (password === undefined || (await probe(address, password)) !== 'ready') return undefined;
  return urlOf(address, password);
}
