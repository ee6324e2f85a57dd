// From configuration to a database that is there and migrated. Without DATABASE_URL that is an embedded PostgreSQL, which
// everything above sees only as a URL.
import { migrate, openDatabase, type Database } from './database.ts';
import { startEmbedded } from './embedded/index.ts';

export interface OpenedDatabase extends Database {
  url: string;
  /** Migrations that were applied now. */
  migrated: string[];
}

export interface OpenOptions {
  databaseUrl: string | undefined;
  dataDir: string;
  log: (message: string) => void;
  size?: number;
}

const heartbeatMilliseconds = 1_000;

export async function openStore({ databaseUrl, dataDir, log, size }: OpenOptions): Promise<OpenedDatabase> {
  const embedded = databaseUrl === undefined ? await keepEmbedded(dataDir, log) : undefined;
  const url = databaseUrl ?? embedded?.url ?? '';
  const onError = (error: Error) => {
    log(`the database connection failed: ${error.message}`);
  };
  const database = openDatabase(url, onError, size);
  embedded?.watch(database.isReady);
  const close = async () => {
    embedded?.unwatch();
    await database.close();
    await embedded?.stop();
  };
  try {
    return { ...database, url, migrated: await migrate(database.db), close };
  } catch (error) {
    await close();
    throw error;
  }
}

// The one who started the embedded database may end while we still use it: the command line, or another server. Then we
// start it again, at the same address, and the pool finds it.
async function keepEmbedded(dataDir: string, log: (message: string) => void) {
  let running = await startEmbedded({ dataDir, log });
  let timer: NodeJS.Timeout | undefined;
  let reviving: Promise<void> = Promise.resolve();
  const revive = async (isReady: () => Promise<boolean>) => {
    if (await isReady()) return;
    log('the embedded database is gone; starting it again');
    running = await startEmbedded({ dataDir, log });
  };
  return {
    url: running.url,
    watch(isReady: () => Promise<boolean>) {
      let busy = false;
      timer = setInterval(() => {
        if (busy) return;
        busy = true;
        reviving = revive(isReady)
          .catch((error: unknown) => {
            log(
              `the embedded database did not start: ${error instanceof Error ? error.message : String(error)}`,
            );
          })
          .finally(() => (busy = false));
      }, heartbeatMilliseconds);
      timer.unref();
    },
    unwatch() {
      clearInterval(timer);
    },
    async stop() {
      await reviving;
      await running.stop();
    },
  };
}
