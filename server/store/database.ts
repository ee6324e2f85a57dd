// The connection pool. It reconnects by itself after the database was down.
import { Kysely, Migrator, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { migrations } from './migrations/index.ts';
import type { Tables } from './tables/index.ts';

/** A pool or a transaction. The caller of a store function chooses. */
export type Db = Kysely<Tables>;

/** A transaction. Functions that change rows require one, so a change outside of a transaction does not compile. */
export type Tx = Transaction<Tables>;

export const inTransaction = <T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.transaction().execute(work);

export type Pool = pg.Pool;

export interface Database {
  db: Db;
  pool: Pool;
  isReady: () => Promise<boolean>;
  /** New connections use this URL from now on. */
  reconnectTo: (url: string) => void;
  close: () => Promise<void>;
}

// Amounts are bigint, which pg returns as text. Number() would round large ones silently.
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text: string) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('A stored number is too large for JavaScript.');
  return value;
});

/** The database cannot be used. The message is one sentence for the operator. */
export class DatabaseFault extends Error {}

/** `localhost` has several addresses; if all fail, the error is an AggregateError without a message. */
export const reasonOf = (error: unknown): string =>
  error instanceof AggregateError && error.message === ''
    ? error.errors.map(reasonOf).join(', ')
    : error instanceof Error
      ? error.message
      : String(error);

// A database that hangs accepts a query and never answers. pg supports this option per query; its types do not have it.
const withTimeout = (text: string): pg.QueryConfig & { query_timeout: number } => ({
  text,
  query_timeout: 2_000,
});

/** Connections for requests, and how long a request waits for one of them. */
export const poolSize = 10;
export const connectionMilliseconds = 2_000;

interface DatabaseOptions {
  size?: number;
  /** 0 disables the timeout. */
  statementMilliseconds?: number;
}

export function openDatabase(
  url: string,
  onError: (error: Error) => void,
  { size = poolSize, statementMilliseconds = 15_000 }: DatabaseOptions = {},
): Database {
  const pool = new pg.Pool({
    connectionString: url,
    types,
    max: size,
    application_name: 'payments-service',
    // Short, so that requests fail fast while the database is down.
    connectionTimeoutMillis: connectionMilliseconds,
    idleTimeoutMillis: 30_000,
    statement_timeout: statementMilliseconds,
    idle_in_transaction_session_timeout: 60_000,
    keepAlive: true,
  });
  pool.on('error', onError);
  // Without a listener, a lost connection that is in use crashes the process.
  pool.on('connect', (client) => client.on('error', onError));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    db,
    pool,
    isReady: () =>
      pool.query(withTimeout('select 1')).then(
        () => true,
        () => false,
      ),
    reconnectTo: (newUrl) => {
      pool.options.connectionString = newUrl;
    },
    close: async () => {
      await db.destroy();
      // Kysely closes the pool only if it has used it.
      if (!pool.ending) await pool.end();
    },
  };
}

/** Kysely holds a lock while it migrates, so several instances may start at once. */
export async function migrate(db: Db): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error)
    throw new DatabaseFault(`The database could not be migrated: ${reasonOf(error)}`, { cause: error });
  return results.map(({ migrationName }) => migrationName);
}
