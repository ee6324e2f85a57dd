// Opens and migrates the configured database. Without DATABASE_URL that is an embedded PostgreSQL, which is started.
import pg from 'pg';
import { contractVersion, packageName } from '../../../generated/operations.ts';
import { codeOf, isConnectionLost, reasonOf } from '../faults.ts';
import { createSingleFlight } from '../rules/async.ts';
import { beginToWrite } from './connection.ts';
import { openDatabase, type Database, type DatabaseOptions, type Db } from './database.ts';
import { EmbeddedClient, startEmbedded } from './embedded/index.ts';
import { claimDatabase, refuseOtherEnvironment, type Environment } from './environment.ts';
import { connectionFault, DatabaseFault, diskFull, nameRights, readOnlyFault } from './faults.ts';
import { migrate, refusePending, refuseUnknown, type Migrations } from './migrate.ts';
import { placeOf } from './url.ts';

export interface OpenedDatabase extends Database {
  /** Why requests cannot be served now; undefined when they can. */
  findUnready: () => Promise<Unready | undefined>;
  /** Connections for the queue, its worker and jobs, so that they and requests do not wait for each other. */
  background: Database;
  url: string;
  migrated: string[];
  /** The last migration of a newer version that has used the database. */
  newer: string | undefined;
}

export interface OpenOptions {
  schema: Migrations;
  environment: Environment;
  databaseUrl: string | undefined;
  dataDir: string;
  log: (message: string) => void;
  size?: number;
  /** 0 for commands whose statements may take long. */
  statementMilliseconds?: number;
  isPooled?: boolean;
  command?: string;
  /** Opens `background` apart from the connections for requests, whose statements end sooner. */
  servesRequests?: boolean;
  /** For what must change nothing: it refuses a database that needs migrations. */
  readOnly?: boolean;
}

/** A request whose statement takes longer returns 504: it would hold a connection that others need. */
const requestStatementMilliseconds = 3_000;
const backgroundSize = 6;
/** A start is more patient than a request: a busy machine may need seconds for a connection. */
const startMilliseconds = 10_000;

export async function openReadyDatabase(options: OpenOptions): Promise<OpenedDatabase> {
  const { environment, databaseUrl, dataDir, log, size, statementMilliseconds } = options;
  const { servesRequests = false, readOnly = false, isPooled = false } = options;
  const command = servesRequests ? undefined : (options.command ?? 'command');
  const isEmbedded = databaseUrl === undefined;
  const onError = (error: Error) => {
    log(`the database connection failed: ${reasonOf(error)}`);
  };
  const shared = { isPooled, command, Client: isEmbedded ? EmbeddedClient : pg.Client };
  // An embedded database is always that of a sandbox.
  const fills = servesRequests && environment === 'sandbox' && !isEmbedded;
  const ready = async (db: Db, place: string) => {
    const newer = await refuseUnknown(db, place, options.schema);
    await refuseOtherEnvironment(db, environment, fills);
    const migrated = await (readOnly
      ? refusePending(db, place, options.schema)
      : migrate(db, options.schema));
    if (environment === 'production' && !readOnly) await claimDatabase(db, environment);
    return { migrated, newer };
  };
  const prepareAt = (url: string) =>
    prepare(url, shared, onError, (db) => ready(db, isEmbedded ? 'in DATA_DIR' : placeOf(url)));
  const { url, isCitus, migrated, newer, release } = isEmbedded
    ? await prepareEmbedded(dataDir, log, prepareAt)
    : { url: databaseUrl, ...(await prepareAt(databaseUrl)), release: () => undefined };
  let isDiskFull = false;
  const noteError = (error: unknown) => {
    isDiskFull ||= codeOf(error) === diskFull;
  };
  const own = { ...shared, isCitus, noteError, notesStatements: environment === 'sandbox' };
  const database = openDatabase(url, onError, {
    ...own,
    ...(size === undefined ? {} : { size }),
    ...(statementMilliseconds === undefined ? {} : { statementMilliseconds }),
    // Citus must know the account to plan an `insert … select`.
    ...(servesRequests ? { statementMilliseconds: requestStatementMilliseconds, plansOnce: !isCitus } : {}),
  });
  const background = servesRequests ? openDatabase(url, onError, { ...own, size: backgroundSize }) : database;
  const pools = new Set([database, background]);
  let closed: Promise<void> | undefined;
  const close = () =>
    (closed ??= (async () => {
      try {
        await Promise.all([...pools].map((pool) => pool.close()));
      } finally {
        await release();
      }
    })());
  // Any number of probes at once need one connection.
  const probe = createSingleFlight<Unready | undefined>();
  const findReason = async () => {
    const wasDiskFull = isDiskFull;
    const reason = await findUnready(url, Object.keys(options.schema.migrations), shared.Client, wasDiskFull);
    if (wasDiskFull && reason === undefined) isDiskFull = false;
    return reason;
  };
  const unready = async () => (closed ? 'database closed' : probe(null, findReason));
  return { ...database, findUnready: unready, background, url, migrated, newer, close };
}

interface Prepared extends Pick<OpenedDatabase, 'migrated' | 'newer'> {
  isCitus: boolean;
}

/**
 * Uses a pool without a statement timeout: a migration, or waiting for the migration of another instance, may take longer than the
 * statements of a request are allowed to.
 */
async function prepare(
  url: string,
  shared: Pick<DatabaseOptions, 'isPooled' | 'command' | 'Client'>,
  onError: (error: Error) => void,
  ready: (db: Db) => Promise<Pick<Prepared, 'migrated' | 'newer'>>,
): Promise<Prepared> {
  const withoutTimeout = openDatabase(url, onError, {
    ...shared,
    size: 3,
    statementMilliseconds: 0,
    waitMilliseconds: startMilliseconds,
  });
  try {
    let isCitus: boolean;
    let isReadOnly: boolean;
    try {
      const { rows } = await withoutTimeout.query<{ isCitus: boolean; isReadOnly: boolean }>(
        `select exists (select from pg_extension where extname = 'citus') as "isCitus",
           current_setting('transaction_read_only')::boolean as "isReadOnly"`,
      );
      isCitus = rows[0]?.isCitus === true;
      isReadOnly = rows[0]?.isReadOnly === true;
    } catch (error) {
      throw connectionFault(placeOf(url), error);
    }
    if (shared.command === undefined && isReadOnly)
      throw new DatabaseFault(readOnlyFault(`The database at ${placeOf(url)}`));
    return { isCitus, ...(await ready(withoutTimeout.db).catch(nameRights(url))) };
  } finally {
    await withoutTimeout.close();
  }
}

/** Retries, because another process may stop the embedded database while we migrate. */
async function prepareEmbedded(
  dataDir: string,
  log: (message: string) => void,
  prepareAt: (url: string) => ReturnType<typeof prepare>,
) {
  const onStopped = () => {
    log('the embedded database has stopped or restarted: if /readyz stays 503, start the service again');
  };
  for (let attempt = 1; ; attempt++) {
    const embedded = await startEmbedded({ dataDir, log, onStopped });
    try {
      return { url: embedded.url, ...(await prepareAt(embedded.url)), release: () => embedded.release() };
    } catch (error) {
      await embedded.release();
      // A database that was there, and refused, would refuse again.
      if (attempt === 3 || !isGone(error)) throw error;
    }
  }
}

/** PostgreSQL was stopped meanwhile, or is being stopped. */
const isGone = (error: unknown): boolean =>
  [error, error instanceof Error ? error.cause : undefined].some(
    (one) => isConnectionLost(one) || ['ECONNREFUSED', 'ENOENT', '57P03'].includes(codeOf(one) ?? ''),
  );

// Whether requests can be served now: the database answers, accepts writes, and has the tables of this version.

type Unready =
  | 'database unreachable'
  | 'database read-only'
  | 'database disk full'
  | 'migrations missing'
  | 'database closed';

/** Together well within 5 s. */
const connectMilliseconds = 2_000;
const queryMilliseconds = 500;

const undefinedTable = '42P01';

/** Needs 64 kB that no table has left. */
const writeSome = `create temporary table disk_probe on commit drop as
  select repeat('x', 1000) as text from generate_series(1, 64)`;

/**
 * Undefined when everything is as it must be. It asks on a new connection: a database is ready also while those of the pools are
 * busy, and an old one may be to a server that is no longer the primary, or that has other settings now. It only reads, unless a
 * write has found the disk full.
 */
export async function findUnready(
  url: string,
  names: readonly string[],
  Client = pg.Client,
  wasDiskFull = false,
): Promise<Unready | undefined> {
  const client = new Client({
    connectionString: url,
    application_name: `${packageName} ${contractVersion}`,
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
      `${beginToWrite}; set local statement_timeout = ${queryMilliseconds};
       select current_setting('transaction_read_only')::boolean as "isReadOnly",
         (select count(*)::integer from applied_migrations
          where name in (${names.map((name) => client.escapeLiteral(name)).join(', ')})) as applied;
       commit`,
    )) as unknown as pg.QueryResult<{ isReadOnly: boolean; applied: number }>[];
    const [row] = results[2]?.rows ?? [];
    if (row?.isReadOnly !== false) return 'database read-only';
    if (wasDiskFull) await client.query(`set local statement_timeout = ${queryMilliseconds}; ${writeSome}`);
    return row.applied === names.length ? undefined : 'migrations missing';
  } catch (error) {
    if (codeOf(error) === diskFull) return 'database disk full';
    return codeOf(error) === undefinedTable ? 'migrations missing' : 'database unreachable';
  } finally {
    // Not awaited: a frozen server never says goodbye. A query under way is cut off.
    client.end().catch(() => undefined);
  }
}
