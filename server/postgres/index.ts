// The embedded default: a private PostgreSQL in DATA_DIR, for whoever has set no DATABASE_URL. All that
// leaves this room is a database URL; nothing above `store/` may know whether PostgreSQL came from here.
import { join } from 'node:path';
import { adopt } from './adopt.ts';
import { begin } from './begin.ts';
import { findPostmaster, hasCluster } from './cluster.ts';
import { withLock } from './lock.ts';
import { choosePlace, findPlace, makeDataDirectory, type Log } from './placement.ts';
import { reply, stop } from './postmaster.ts';
import { makePassword, missingPassword, readPassword, urlOf } from './settings.ts';
import { hasUsers } from './watchdog.ts';

export { makeDataDirectory } from './placement.ts';

export interface EmbeddedDatabase {
  url: string;
  /** False if it was running already: then it is not ours to stop. */
  started: boolean;
  /** Where it keeps its data. */
  directory: string;
  /** Stops it and waits for its end; of one that was running already, only says that we need it no longer. */
  stop(): Promise<void>;
  /** The same, but one that somebody else uses is left to them; it ends when the last of them is gone. */
  leave(): Promise<void>;
}

export interface EmbeddedOptions {
  dataDir: string;
  log?: Log;
  /** The folder of the package with the programs; found if not given. */
  packageFolder?: string;
}

const lockOf = (root: string): string => join(root, 'postgres-lock');

/**
 * The database of this DATA_DIR: the one that runs there, or one started for us. It lives as long as who
 * started it, and after a sudden death of that process as long as somebody else uses it. If it was stopped
 * while in use, call again: it comes back on the same address, unless another program has taken the port.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const log = options.log ?? (() => undefined);
  const root = await makeDataDirectory(options.dataDir);
  return withLock(lockOf(root), async () => {
    const place = await choosePlace(root, log);
    const { directory } = place;
    const kept = await readPassword(place);
    if (kept === undefined && (await hasCluster(place))) throw missingPassword(place);
    const password = kept ?? (await makePassword(place));

    const adopted = await adopt(place, password);
    if (adopted) {
      const leave = (): Promise<void> => {
        adopted.leave();
        return Promise.resolve();
      };
      return { url: urlOf(adopted.port, password), started: false, directory, stop: leave, leave };
    }

    const { port, watched } = await begin(place, password, log, options.packageFolder);
    const end = (evenIfUsed: boolean): Promise<void> =>
      withLock(lockOf(root), async () => {
        const found = await findPostmaster(place);
        // Another process may have started one since ours ended: that one is not ours to stop.
        if (found?.pid === watched.pid && (evenIfUsed || !hasUsers(place, found.pid)))
          await stop(place, found.pid);
        watched.release();
      });
    return {
      url: urlOf(port, password),
      started: true,
      directory,
      stop: () => end(true),
      leave: () => end(false),
    };
  });
}

/**
 * The address of the database that runs in this DATA_DIR; undefined if none does. Starts and keeps nothing.
 */
export async function runningUrl(dataDir: string): Promise<string | undefined> {
  const place = await findPlace(dataDir);
  const found = place && (await findPostmaster(place));
  if (!found) return undefined;
  const password = await readPassword(place);
  if (password === undefined || (await reply(found.port, password)) !== 'answers') return undefined;
  return urlOf(found.port, password);
}
