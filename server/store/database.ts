// The connection: one pool per process, which recovers by itself when the database goes away and comes back.
import { Kysely, Migrator, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { isDoneWithin } from '../domain/deadline.ts';
import { migrations } from './migrations/index.ts';
import type { Tables } from './tables/index.ts';

/** A pool or a transaction: store functions are given one and never pick their own. */
export type Db = Kysely<Tables>;

/** A transaction. What changes rows takes one of these, so that a change outside of a transaction does not compile. */
export type Tx = Transaction<Tables>;

export const inTransaction = <T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.transaction().execute(work);

export type Pool = pg.Pool;

export interface Database {
  db: Db;
  pool: Pool;
  isReady: () => Promise<boolean>;
  /** New connections are made to this address from now on. */
  moveTo: (url: string) => void;
  /** Gives running statements a few seconds, then closes their connections. */
  close: () => Promise<void>;
}

const closeMilliseconds = 4_000;

// Amounts are bigint. pg returns those as text; Number() would round large ones without a word.
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text: string) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('A stored number is too large for JavaScript.');
  return value;
});

/** The database cannot be used; the message says why in one sentence. */
export class DatabaseFault extends Error {}

/** `localhost` has several addresses, and the AggregateError over their failures has no message of its own. */
export const reasonOf = (error: unknown): string =>
  error instanceof AggregateError && error.message === ''
    ? error.errors.map(reasonOf).join(', ')
    : error instanceof Error
      ? error.message
      : String(error);

// A frozen database accepts a query and never answers. pg has this setting per query; its types do not know it.
const quickly = (text: string): pg.QueryConfig & { query_timeout: number } => ({
  text,
  query_timeout: 2_000,
});

interface DatabaseOptions {
  size?: number;
  /** 0 for none. */
  statementMilliseconds?: number;
}

export function openDatabase(
  url: string,
  onError: (error: Error) => void,
  { size = 10, statementMilliseconds = 15_000 }: DatabaseOptions = {},
): Database {
  const pool = new pg.Pool({
    connectionString: url,
    types,
    max: size,
    application_name: 'payments-service',
    // Requests must be answered quickly while the database is away.
    connectionTimeoutMillis: 2_000,
    idleTimeoutMillis: 30_000,
    statement_timeout: statementMilliseconds,
    idle_in_transaction_session_timeout: 60_000,
    keepAlive: true,
  });
  pool.on('error', onError);
  // Without a listener, a checked-out client crashes the process when the database goes away.
  pool.on('connect', (client) => client.on('error', onError));
  const clients = new Set<pg.Client>();
  pool.on('connect', (client) => client instanceof pg.Client && clients.add(client));
  pool.on('remove', (client) => client instanceof pg.Client && clients.delete(client));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    db,
    pool,
    isReady: () =>
      pool.query(quickly('select 1')).then(
        () => true,
        () => false,
      ),
    moveTo: (elsewhere) => {
      pool.options.connectionString = elsewhere;
    },
    close: async () => {
      const end = async () => {
        await db.destroy();
        // Kysely ends the pool only if it has used it.
        if (!pool.ending) await pool.end();
      };
      if (await isDoneWithin(closeMilliseconds, end())) return;
      // The pool waits for every statement under way, and pg waits for the server to say goodbye. A frozen one never does.
      for (const client of clients) client.connection.stream.destroy();
    },
  };
}

/** Kysely takes a lock in the database, so several instances may start at once. */
export async function migrate(db: Db): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error)
    throw new DatabaseFault(`The database could not be migrated: ${reasonOf(error)}`, { cause: error });
  return results.map(({ migrationName }) => migrationName);
}
