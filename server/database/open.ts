// Opens and migrates the configured database. Without DATABASE_URL that is an embedded PostgreSQL, which is started, and
// restarted when it stops.
import { openDatabase, type Database, type Db } from './database.ts';
import { adviceFor, DatabaseFault, describe, nameRights, readOnlyFault, reasonOf } from './faults.ts';
import { claimDatabase, refuseOtherEnvironment, type Environment } from './environment.ts';
import { migrate, refuseEdited, refusePending, refuseUnknown } from './migrate.ts';
import { requireColumns } from './tables.ts';
import type { Pooler } from './connection.ts';
import { startEmbedded } from './embedded/index.ts';
import { createSingleFlight } from '../rules/async.ts';
import pg from 'pg';
import { contractVersion } from '../../generated/operations.ts';
import { codeOf } from '../faults.ts';
import { migrations } from './migrations/index.ts';

export interface OpenedDatabase extends Database {
  /** Why requests cannot be served now; undefined when they can. */
  findUnready: () => Promise<Unready | undefined>;
  /** Connections for the queue, its worker and jobs, so that they and requests do not wait for each other. */
  background: Database;
  url: string;
  /** Whether merchant accounts are spread over several servers: the engine is Citus. */
  isSharded: boolean;
  /** Migrations that this start applied. */
  migrated: string[];
}

export interface OpenOptions {
  environment: Environment;
  databaseUrl: string | undefined;
  dataDir: string;
  log: (message: string) => void;
  size?: number;
  /** 0 for commands whose statements may take long. */
  statementMilliseconds?: number;
  pooler?: Pooler | undefined;
  /** The name of the command that opens it. */
  command?: string;
  /** Opens `background` apart from the connections for requests, whose statements end sooner. */
  servesRequests?: boolean;
  /** For what must change nothing: it refuses a database that needs migrations. */
  readOnly?: boolean;
}

const healthCheckMilliseconds = 1_000;
/** A request whose statement takes longer returns 500: it would hold a connection that others need. */
const requestStatementMilliseconds = 3_000;
/** All statements of a request together, and its waiting for connections. A caller has an answer within 5 s. */
export const requestDatabaseMilliseconds = 4_500;
const backgroundSize = 6;
/** A start is more patient than a request: a busy machine may need seconds for a connection. */
const startMilliseconds = 10_000;

export async function openReadyDatabase(options: OpenOptions): Promise<OpenedDatabase> {
  const { environment, databaseUrl, dataDir, log, size, statementMilliseconds } = options;
  const { servesRequests = false, readOnly = false, pooler = 'none' } = options;
  const command = servesRequests ? undefined : (options.command ?? 'command');
  const onError = (error: Error) => {
    log(`the database connection failed: ${reasonOf(error)}`);
  };
  const embedded = databaseUrl === undefined ? await superviseEmbedded(dataDir, log) : undefined;
  const url = databaseUrl ?? embedded?.url() ?? '';
  // Citus must know the account to plan an `insert … select`.
  let plansOnce = false;
  const notesStatements = environment === 'sandbox';
  const database = openDatabase(url, onError, {
    pooler,
    command,
    notesStatements,
    ...(size === undefined ? {} : { size }),
    ...(statementMilliseconds === undefined ? {} : { statementMilliseconds }),
    ...(servesRequests
      ? { statementMilliseconds: requestStatementMilliseconds, plansOnce: () => plansOnce }
      : {}),
  });
  const background = servesRequests
    ? openDatabase(url, onError, { size: backgroundSize, pooler, notesStatements })
    : database;
  const pools = new Set([database, background]);
  embedded?.watch({
    // If it only is busy, the start finds it running and changes nothing.
    isReady: background.isReady,
    reconnectTo: (elsewhere) => {
      for (const pool of pools) pool.reconnectTo(elsewhere);
    },
  });
  let closed: Promise<void> | undefined;
  const close = () =>
    (closed ??= (async () => {
      embedded?.unwatch();
      try {
        await Promise.all([...pools].map((pool) => pool.close()));
      } finally {
        await embedded?.stop();
      }
    })());
  try {
    // An embedded database is always that of a sandbox.
    const fills = servesRequests && environment === 'sandbox' && !embedded;
    const ready: Ready = async (db) => {
      await refuseUnknown(db, embedded ? 'in DATA_DIR' : describe(url));
      await refuseOtherEnvironment(db, environment, fills);
      if (readOnly) return refusePending(db, describe(url));
      const migrated = await migrate(db);
      if (environment === 'production') await claimDatabase(db, environment);
      else await refuseEdited(db);
      await requireColumns(db);
      return migrated;
    };
    const prepared = embedded
      ? await prepareEmbedded(embedded, onError, ready, command)
      : await prepare(url, onError, ready, { pooler, command });
    plansOnce = !prepared.isSharded;
    const currentUrl = () => embedded?.url() ?? url;
    // Any number of probes at once need one connection.
    const probe = createSingleFlight<Unready | undefined>();
    const unready = () => probe(null, () => findUnready(currentUrl()));
    return { ...database, findUnready: unready, background, url: currentUrl(), ...prepared, close };
  } catch (error) {
    await close();
    throw error;
  }
}

// Uses a pool without a statement timeout: a migration, or waiting for the migration of another instance, may take longer than
// the statements of a request are allowed to.
type Ready = (db: Db) => Promise<string[]>;
type Prepared = Pick<OpenedDatabase, 'isSharded' | 'migrated'>;

async function prepare(
  url: string,
  onError: (error: Error) => void,
  ready: Ready,
  { pooler = 'none', command }: { pooler?: Pooler; command: string | undefined },
): Promise<Prepared> {
  const withoutTimeout = openDatabase(url, onError, {
    size: 3,
    statementMilliseconds: 0,
    waitMilliseconds: startMilliseconds,
    command,
    pooler,
  });
  try {
    let isSharded: boolean;
    let isReadOnly: boolean;
    try {
      const { rows } = await withoutTimeout.pool.query<{ isSharded: boolean; isReadOnly: boolean }>(
        `select exists (select from pg_extension where extname = 'citus') as "isSharded",
           current_setting('transaction_read_only')::boolean as "isReadOnly"`,
      );
      isSharded = rows[0]?.isSharded === true;
      isReadOnly = rows[0]?.isReadOnly === true;
    } catch (error) {
      throw new DatabaseFault(
        `The database at ${describe(url)} cannot be used: ${reasonOf(error)}. ${adviceFor(error, url)}`,
        { cause: error },
      );
    }
    if (command === undefined && isReadOnly) throw new DatabaseFault(readOnlyFault(`at ${describe(url)}`));
    return { isSharded, migrated: await ready(withoutTimeout.db).catch(nameRights(url)) };
  } finally {
    await withoutTimeout.close();
  }
}

type SupervisedDatabase = Awaited<ReturnType<typeof superviseEmbedded>>;

// Retries, because another process may stop the embedded database while we migrate.
async function prepareEmbedded(
  embedded: SupervisedDatabase,
  onError: (error: Error) => void,
  ready: Ready,
  command: string | undefined,
): Promise<Prepared> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await prepare(embedded.url(), onError, ready, { command });
    } catch (error) {
      if (attempt === 3) throw error;
      await embedded.restart();
    }
  }
}

// PostgreSQL may end while we use it, or another process may stop it. Then we start it again, at the same address if that is still
// free, and the pools reconnect.
async function superviseEmbedded(dataDir: string, log: (message: string) => void) {
  let current = await startEmbedded({ dataDir, log });
  let onNewUrl: ((url: string) => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosing = false;

  const startAgain = async () => {
    const [past, next] = [current, await startEmbedded({ dataDir, log })];
    current = next;
    if (next.started) log('the embedded database had stopped and was started again');
    if (next.url !== past.url) onNewUrl?.(next.url);
    await past.release();
  };
  let restarting: Promise<void> | undefined;
  const restart = () => (restarting ??= startAgain().finally(() => (restarting = undefined)));

  return {
    url: () => current.url,
    restart,
    watch({ isReady, reconnectTo }: Pick<Database, 'isReady' | 'reconnectTo'>) {
      onNewUrl = reconnectTo;
      const check = async () => {
        if (restarting || (await isReady()) || isClosing) return;
        await restart().catch((error: unknown) => {
          log(`the embedded database did not start: ${reasonOf(error)}`);
        });
      };
      timer = setInterval(() => void check(), healthCheckMilliseconds);
      timer.unref();
    },
    unwatch() {
      isClosing = true;
      clearInterval(timer);
    },
    async stop() {
      await restarting?.catch(() => undefined);
      await current.release();
    },
  };
}

// Whether requests can be served now: the database answers, accepts writes, and has the tables of this version.

type Unready = 'database unreachable' | 'database read-only' | 'migrations missing';

/** Together well within 5 s. */
const connectMilliseconds = 2_000;
const queryMilliseconds = 500;

const undefinedTable = '42P01';

/**
 * Undefined when everything is as it must be. It asks on a new connection: a database is ready also while those of the pools are
 * busy, and an old one may be to a server that is no longer the primary, or that has other settings now.
 */
export async function findUnready(url: string): Promise<Unready | undefined> {
  const names = Object.keys(migrations);
  const client = new pg.Client({
    connectionString: url,
    application_name: `payments-service ${contractVersion}`,
    connectionTimeoutMillis: connectMilliseconds,
    query_timeout: queryMilliseconds,
  });
  // Whatever fails, the query does.
  client.on('error', () => undefined);
  try {
    await client.connect();
    // The server has a limit, too: a session that waits for a lock does not notice that we have closed the connection. Set in the
    // same message, because a pooler refuses it as an option of the connection.
    // `transaction_read_only` is also on while a standby replays the log of its primary.
    const results = (await client.query(
      `set local statement_timeout = ${queryMilliseconds};
       select current_setting('transaction_read_only')::boolean as "isReadOnly",
         (select count(*)::integer from applied_migrations
          where name in (${names.map((name) => client.escapeLiteral(name)).join(', ')})) as applied`,
    )) as unknown as pg.QueryResult<{ isReadOnly: boolean; applied: number }>[];
    const [row] = results[1]?.rows ?? [];
    if (row?.isReadOnly !== false) return 'database read-only';
    return row.applied === names.length ? undefined : 'migrations missing';
  } catch (error) {
    return codeOf(error) === undefinedTable ? 'migrations missing' : 'database unreachable';
  } finally {
    // Not awaited: a frozen server never says goodbye. A query under way is cut off.
    client.end().catch(() => undefined);
  }
}
