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
  close: () => Promise<void>;
}

// Amounts are bigint. pg hands them over as text, and a silent Number() would round what is too large.
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text: string) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('A stored number is too large for JavaScript.');
  return value;
});

export function openDatabase(url: string, onError: (error: Error) => void, size = 10): Database {
  const pool = new pg.Pool({
    connectionString: url,
    types,
    max: size,
    application_name: 'payments-service',
    // While the database is away, answers must be quick.
    connectionTimeoutMillis: 2_000,
    idleTimeoutMillis: 30_000,
    statement_timeout: 15_000,
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
      pool.query('select 1').then(
        () => true,
        () => false,
      ),
    close: () => db.destroy(),
  };
}

/** Kysely takes a lock in the database, so any number of instances may start at once. */
export async function migrate(db: Kysely<Tables>): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error)
    throw new Error(
      `The database could not be migrated: ${error instanceof Error ? error.message : String(error as string)}`,
      { cause: error },
    );
  return results.map(({ migrationName }) => migrationName);
}
