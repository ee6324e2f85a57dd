// The connection: one pool per process, which recovers by itself when the database goes away and comes back.
import { Kysely, Migrator, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { migrations } from './migrations/index.ts';
import type { Tables } from './schema.ts';

/** A connection or a transaction: what reads and writes is handed one, and never picks its own. */
export type Db = Kysely<Tables> | Transaction<Tables>;

export interface Database {
  db: Kysely<Tables>;
  pool: pg.Pool;
  isReady: () => Promise<boolean>;
  /** From now on connections are made there. */
  moveTo: (url: string) => void;
  close: () => Promise<void>;
}

// Amounts are bigint. pg hands them over as text, and a silent Number() would round what is too large.
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text: string) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('A stored number is too large for JavaScript.');
  return value;
});

/** The database cannot be used, and the message says in one sentence why. */
export class DatabaseFault extends Error {}

/** `localhost` fails once for each of its addresses, and the error over these says nothing itself. */
export const reasonOf = (error: unknown): string =>
  error instanceof AggregateError && error.message === ''
    ? error.errors.map(reasonOf).join(', ')
    : error instanceof Error
      ? error.message
      : String(error);

// A database that hangs accepts a query and never answers it. pg knows this setting per query, its types do not.
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
    // While the database is away, answers must be quick.
    connectionTimeoutMillis: 2_000,
    idleTimeoutMillis: 30_000,
    statement_timeout: statementMilliseconds,
    idle_in_transaction_session_timeout: 60_000,
    keepAlive: true,
  });
  pool.on('error', onError);
  // Without a listener, a client that is checked out when the database goes away takes the process with it.
  pool.on('connect', (client) => client.on('error', onError));
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
      await db.destroy();
      // Kysely ends a pool that it has used; connections may have been made without it.
      if (!pool.ending) await pool.end();
    },
  };
}

/** Kysely takes a lock in the database, so any number of instances may start at once. */
export async function migrate(db: Kysely<Tables>): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error)
    throw new DatabaseFault(`The database could not be migrated: ${reasonOf(error)}`, { cause: error });
  return results.map(({ migrationName }) => migrationName);
}
