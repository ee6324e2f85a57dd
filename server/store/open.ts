// From configuration to a database that is there and migrated. Without DATABASE_URL that is an embedded PostgreSQL, which
// everything above sees only as a URL.
import { DatabaseFault, migrate, openDatabase, reasonOf, type Database } from './database.ts';
import { startEmbedded, type EmbeddedDatabase } from '../postgres/index.ts';

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
  const onError = (error: Error) => {
    log(`the database connection failed: ${reasonOf(error)}`);
  };
  const embedded = databaseUrl === undefined ? await keepEmbedded(dataDir, log) : undefined;
  const url = databaseUrl ?? embedded?.url() ?? '';
  const database = openDatabase(url, onError, size === undefined ? {} : { size });
  embedded?.watch(database);
  let closed: Promise<void> | undefined;
  const close = () =>
    (closed ??= (async () => {
      embedded?.unwatch();
      await database.close().finally(() => embedded?.stop());
    })());
  try {
    const migrated = embedded ? await prepareEmbedded(embedded, onError) : await prepare(url, onError);
    return { ...database, url: embedded?.url() ?? url, migrated, close };
  } catch (error) {
    await close();
    throw error;
  }
}

// On connections of its own: a migration may take longer than any statement of a request may, and so may the wait for
// another instance that is migrating.
async function prepare(url: string, onError: (error: Error) => void): Promise<string[]> {
  const patient = openDatabase(url, onError, { size: 2, statementMilliseconds: 0 });
  try {
    try {
      await patient.pool.query('select 1');
    } catch (error) {
      throw new DatabaseFault(
        `The database at ${describe(url)} cannot be used: ${reasonOf(error)}. Check DATABASE_URL.`,
        { cause: error },
      );
    }
    return await migrate(patient.db);
  } finally {
    await patient.close();
  }
}

/** Without user and password, for messages. A socket is named by its folder. */
function describe(url: string): string {
  const { host, pathname, searchParams } = new URL(url);
  return `${searchParams.get('host') ?? host}${pathname}`;
}

type Keeper = Awaited<ReturnType<typeof keepEmbedded>>;

// Who started it may stop it at this very moment.
async function prepareEmbedded(embedded: Keeper, onError: (error: Error) => void): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await prepare(embedded.url(), onError);
    } catch (error) {
      if (attempt === 3) throw error;
      await embedded.revive();
    }
  }
}

// The one who started the embedded database may end while we still use it: the command line, or another server. Then we
// start it again, at the same address if that is still free, and the pool finds it.
async function keepEmbedded(dataDir: string, log: (message: string) => void) {
  const start = async (): Promise<EmbeddedDatabase> => {
    try {
      return await startEmbedded({ dataDir, log });
    } catch (error) {
      throw new DatabaseFault(reasonOf(error), { cause: error });
    }
  };
  let current = await start();
  let held = [current];
  let moved: ((url: string) => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let over = false;

  const startAgain = async () => {
    const next = await start();
    if (next.started) log('the embedded database was gone: it is started again');
    // Whoever does not answer may still run, and if we started it, it stays ours to stop.
    const past = held.filter(({ started }) => next.started || !started);
    held = [...held.filter((database) => !past.includes(database)), next];
    for (const database of past) await database.release();
    if (next.url !== current.url) moved?.(next.url);
    current = next;
  };
  let reviving: Promise<void> | undefined;
  const revive = () => (reviving ??= startAgain().finally(() => (reviving = undefined)));

  return {
    url: () => current.url,
    revive,
    watch({ isReady, moveTo }: Database) {
      moved = moveTo;
      let busy = false;
      const beat = async () => {
        if ((await isReady()) || over) return;
        await revive();
      };
      timer = setInterval(() => {
        if (busy) return;
        busy = true;
        beat()
          .catch((error: unknown) => {
            log(`the embedded database did not start: ${reasonOf(error)}`);
          })
          .finally(() => (busy = false));
      }, heartbeatMilliseconds);
      timer.unref();
    },
    unwatch() {
      over = true;
      clearInterval(timer);
    },
    async stop() {
      await reviving?.catch(() => undefined);
      // The latest first: to the one that we started, an adoption of our own looks like another user.
      for (const database of held.reverse()) await database.release();
    },
  };
}
