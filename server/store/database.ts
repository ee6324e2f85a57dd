// The connection pool. It reconnects by itself after the database was down.
import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { parseJson } from '../../client/json.ts';
import { isDoneWithin } from '../domain/deadline.ts';
import { createFairShare } from './fair-share.ts';
import { nameStatements } from './named-statements.ts';
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
  /** The same for the requests of one owner, who holds at most a share of the connections at a time. */
  dbOf: (owner: string) => Db;
  pool: Pool;
  isReady: () => Promise<boolean>;
  /** New connections use this URL from now on. */
  reconnectTo: (url: string) => void;
  /** Gives running statements a few seconds, then closes their connections. */
  close: () => Promise<void>;
}

const closeMilliseconds = 4_000;

// Amounts are bigint, which pg returns as text. Number() would round large ones silently.
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text: string) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('A stored number is too large for JavaScript.');
  return value;
});

// Callers choose the keys of `metadata` and of billing details.
types.setTypeParser(pg.types.builtins.JSON, parseJson);
types.setTypeParser(pg.types.builtins.JSONB, parseJson);

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
  /** Not behind a pooler, which gives each transaction another connection. */
  namesStatements?: boolean;
}

export function openDatabase(
  url: string,
  onError: (error: Error) => void,
  { size = poolSize, statementMilliseconds = 15_000, namesStatements = true }: DatabaseOptions = {},
): Database {
  const pool = new pg.Pool({
    connectionString: url,
    types,
    max: size,
    // Not that of versions before 1.2: see `countOlderConnections` in sealing.ts.
    application_name: 'payments-service 1.2',
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
  const clients = new Set<pg.Client>();
  pool.on('connect', (client) => {
    if (!(client instanceof pg.Client)) return;
    clients.add(client);
    if (namesStatements) nameStatements(client);
  });
  pool.on('remove', (client) => client instanceof pg.Client && clients.delete(client));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    db,
    dbOf: shareFairly(pool, size),
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

/** Each has a few objects and no connection of its own, so they can be forgotten at any time. */
const mostOwners = 1_000;

/**
 * A merchant account holds at most half of the pool, and what is about several of them (`*`) a little less. The owner is told
 * to the database and not to an AsyncLocalStorage, which would cost Node 20 a tenth of a request.
 */
function shareFairly(pool: pg.Pool, size: number): (owner: string) => Db {
  const mostOf = (owner: string) => Math.ceil(size * (owner === '*' ? 0.3 : 0.5));
  const enter = createFairShare(mostOf, connectionMilliseconds);
  const connect = async (owner: string) => {
    const leave = await enter(owner);
    try {
      const client = await pool.connect();
      // pg makes a new `release` at every checkout.
      const release = client.release.bind(client);
      client.release = (error) => {
        leave();
        release(error);
      };
      return client;
    } catch (error) {
      leave();
      throw error;
    }
  };
  const owned = new Map<string, Db>();
  return (owner) => {
    const known = owned.get(owner);
    if (known) return known;
    if (owned.size >= mostOwners) owned.clear();
    const shared = { connect: () => connect(owner), end: () => pool.end() };
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: shared }) });
    owned.set(owner, db);
    return db;
  };
}
