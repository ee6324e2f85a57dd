// The connection pool. It reconnects by itself after the database was down.
import { Kysely, PostgresDialect, type LogEvent, type PostgresPool } from 'kysely';
import pg from 'pg';
import { parseJson } from '../../client/json.ts';
import { contractVersion } from '../../generated/operations.ts';
import { isDoneWithin } from '../rules/async.ts';
import { readBytes } from './bytes.ts';
import { CitusDialect } from './citus.ts';
import {
  withinBudget,
  type Budget,
  connectionOf,
  idleMilliseconds,
  quickPlanning,
  type Connection,
  type Pooler,
} from './connection.ts';
import { createFairShare, type FairShare } from './fair-share.ts';
import { nameStatements } from './named-statements.ts';
import type { Tables } from './tables.ts';
import type { Db } from './unit-of-work.ts';

export { inTransaction, inTransactionOnce, type Db, type Tx } from './unit-of-work.ts';

/** For statements that are not written with Kysely. */
export interface Pool extends Pick<Connection, 'query'> {
  connect: (by?: ConnectionUse) => Promise<Connection>;
  usage: () => PoolUsage;
}

export interface Owners {
  keyPair: string;
  /** Undefined for a request about several accounts or none. */
  account: string | undefined;
}

/** For whom a connection is, and how long it may be waited for. */
export interface ConnectionUse {
  /** The key pair and the merchant account of a request, each of which holds at most a share of the connections. */
  owners?: Owners | undefined;
  /** How long the request may still wait. */
  budget?: Budget | undefined;
}

export interface PoolUsage {
  most: number;
  inUse: number;
  /** Callers that wait for a connection. */
  waiting: number;
}

export interface Database {
  db: Db;
  /** The same for one request. It costs nearly nothing. */
  dbFor: (use: ConnectionUse) => Db;
  pool: Pool;
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
readBytes(types);

/** Connections for requests, and how long a request waits for one of them. */
export const poolSize = 10;
const connectionMilliseconds = 2_000;

/** In pg_stat_activity: `payments-service 1.0.0`, and `payments-service 1.0.0 webhooks work`. See also reseal.ts. */
const nameOf = (command: string | undefined): string =>
  ['payments-service', contractVersion, ...(command === undefined ? [] : [command])].join(' ').slice(0, 63);

export interface DatabaseOptions {
  /** The command whose connections these are. Undefined for an instance of the service. */
  command?: string | undefined;
  size?: number;
  /** 0 disables the timeout. */
  statementMilliseconds?: number;
  pooler?: Pooler;
  /** How long to wait for a connection. */
  waitMilliseconds?: number;
  /** See named-statements.ts. */
  plansOnce?: boolean;
  Client?: typeof pg.Client;
  isCitus?: boolean;
  /** See `noteStatement`. */
  notesStatements?: boolean;
}

export function openDatabase(
  url: string,
  onError: (error: Error) => void,
  {
    size = poolSize,
    statementMilliseconds = 15_000,
    waitMilliseconds = connectionMilliseconds,
    pooler = 'none',
    command,
    plansOnce = false,
    Client = pg.Client,
    isCitus = false,
    notesStatements = false,
  }: DatabaseOptions = {},
): Database {
  const pgPool = new pg.Pool({
    connectionString: url,
    Client,
    types,
    max: size,
    application_name: nameOf(command),
    // Short, so that requests fail fast while the database is down.
    connectionTimeoutMillis: waitMilliseconds,
    idleTimeoutMillis: 30_000,
    // A pooler refuses these: its connections to PostgreSQL are shared.
    ...(pooler === 'none'
      ? {
          statement_timeout: statementMilliseconds,
          idle_in_transaction_session_timeout: idleMilliseconds,
          // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it
          ...(statementMilliseconds > 0 ? { onConnect: planQuickly(waitMilliseconds) } : {}),
        }
      : {}),
    keepAlive: true,
  });
  pgPool.on('error', onError);
  // Without a listener, a lost connection that is in use crashes the process.
  pgPool.on('connect', (client) => client.on('error', onError));
  const clients = new Set<pg.Client>();
  pgPool.on('connect', (client) => {
    if (!(client instanceof pg.Client)) return;
    clients.add(client);
    // Behind a pooler, each transaction may have another connection to PostgreSQL.
    if (pooler === 'none') nameStatements(client, { plansOnce });
  });
  pgPool.on('remove', (client) => client instanceof pg.Client && clients.delete(client));
  const pool = createPool(pgPool, { size, pooler, statementMilliseconds });
  if (notesStatements) lengthenStacks();
  const Dialect = isCitus ? CitusDialect : PostgresDialect;
  const dbFor = (use: ConnectionUse) => {
    // Kysely also has cursors, which are not used.
    const own = { connect: () => pool.connect(use), end: () => pgPool.end() } as unknown as PostgresPool;
    const dialect = new Dialect({ pool: own });
    return new Kysely<Tables>(notesStatements ? { dialect, log: noteStatement } : { dialect });
  };
  const db = dbFor({});
  return {
    db,
    dbFor,
    pool,
    close: async () => {
      const end = async () => {
        await db.destroy();
        // Kysely ends the pool only if it has used it.
        if (!pgPool.ending) await pgPool.end();
      };
      if (await isDoneWithin(closeMilliseconds, end())) return;
      // The pool waits for every statement under way, and pg waits for the server to say goodbye. A frozen one never does.
      for (const client of clients) client.connection.stream.destroy();
    },
  };
}

/** By a statement, because options of the connection would replace those in DATABASE_URL. If it fails, the pool ends the connection. */
const planQuickly = (milliseconds: number) => (client: pg.ClientBase) =>
  withinBudget(
    undefined,
    milliseconds,
    () => client.query(quickPlanning.map((setting) => `set ${setting}`).join('; ')),
    () => undefined,
  );

type PoolOptions = Required<Pick<DatabaseOptions, 'size' | 'pooler' | 'statementMilliseconds'>>;

/**
 * Of its connections one merchant account holds at most half, and what a key pair asks about several of them or none three tenths.
 * A key pair that has several accounts holds more than one of them may, and leaves some to others.
 */
function createPool(pgPool: pg.Pool, { size, ...limits }: PoolOptions): Pool {
  const shareOf = (part: number) => createFairShare(Math.ceil(size * part), connectionMilliseconds);
  const [accounts, acrossAccounts, keyPairs] = [shareOf(0.5), shareOf(0.3), shareOf(0.7)];
  /** If nobody waits any more when it arrives, it is given back. */
  const wait = <T>(budget: Budget | undefined, work: () => Promise<T>, giveBack: (late: T) => void) =>
    withinBudget(budget, Infinity, work, (_error, working) => {
      working.then(giveBack, () => undefined);
    });
  const enter = (share: FairShare, owner: string, budget: Budget | undefined) =>
    wait(
      budget,
      () => share.enter(owner),
      (late) => {
        late();
      },
    );
  /** The account first, so that requests that wait for a slow account leave the places of their pair to its other accounts. */
  const enterBoth = async ({ keyPair, account }: Owners, budget: Budget | undefined) => {
    const leaveAccount = await (account === undefined
      ? enter(acrossAccounts, keyPair, budget)
      : enter(accounts, account, budget));
    try {
      const leavePair = await enter(keyPairs, keyPair, budget);
      return () => {
        leavePair();
        leaveAccount();
      };
    } catch (error) {
      leaveAccount();
      throw error;
    }
  };
  const connect = async ({ owners, budget }: ConnectionUse = {}) => {
    const leave = owners && (await enterBoth(owners, budget));
    try {
      const client = await wait(
        budget,
        () => pgPool.connect(),
        (late) => {
          late.release();
        },
      );
      const release = (destroy: boolean) => {
        leave?.();
        client.release(destroy);
      };
      return connectionOf(client, limits, release, budget);
    } catch (error) {
      leave?.();
      throw error;
    }
  };
  return {
    connect,
    query: async (statement, values) => {
      const connection = await connect();
      try {
        return await connection.query(statement, values);
      } finally {
        connection.release();
      }
    },
    usage: () => ({
      most: size,
      inUse: pgPool.totalCount - pgPool.idleCount,
      waiting: pgPool.waitingCount + keyPairs.waiting() + accounts.waiting() + acrossAccounts.waiting(),
    }),
  };
}

// Says in the log which statement failed, and who waited for it. Only in the sandbox and in tests.

/** Between a statement and who wrote it there are ten frames of libraries. */
function lengthenStacks(): void {
  Error.stackTraceLimit = 30;
}

/** The statement has placeholders: the values are no part of it. */
function noteStatement(event: LogEvent): void {
  if (event.level !== 'error' || !(event.error instanceof Error)) return;
  const { error, query } = event;
  const { position } = error as { position?: string };
  const at = position === undefined ? 0 : Number(position) - 1;
  const mark = position === undefined ? '' : '▶';
  const text = `${query.sql.slice(0, at)}${mark}${query.sql.slice(at)}`;
  Object.assign(error, { statement: text.replace(/\s+/g, ' ').trim() });
}
