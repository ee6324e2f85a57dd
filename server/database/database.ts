// The connection pool. It reconnects by itself after the database was down.
import pg from 'pg';
import { parseJson } from '../../client/json.ts';
import { contractVersion } from '../../generated/operations.ts';
import { isDoneWithin } from '../rules/async.ts';
import {
  connectionOf,
  idleMilliseconds,
  quickPlanning,
  withinDeadline,
  type Connection,
  type ConnectionOptions,
  type Deadline,
} from './connection.ts';
import { createFairShare, type FairShare } from './fair-share.ts';
import { createKysely } from './kysely.ts';
import { nameStatements } from './named-statements.ts';
import { readBytes } from './protocol.ts';
import type { Db } from './unit-of-work.ts';

export { inTransaction, inTransactionOnce, type Db, type Tx } from './unit-of-work.ts';

/** Who a request is for. Each holds at most a share of the connections. */
export interface Owner {
  keyPair: string;
  /** Undefined for a request about several accounts or none. */
  account: string | undefined;
}

/** What is known of the request that needs a connection. */
interface Asking {
  owner?: Owner | undefined;
  deadline?: Deadline | undefined;
}

export interface Database {
  db: Db;
  /** The same for one request. */
  dbFor: (asking: Asking) => Db;
  /** For statements that are not written with Kysely. */
  query: Connection['query'];
  connect: (asking?: Asking) => Promise<Connection>;
  /** Connections. `waiting`: callers that wait for one. */
  usage: () => Record<'most' | 'inUse' | 'waiting', number>;
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
const poolSize = 10;
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
  /** Whether a pooler may give each transaction another connection to PostgreSQL. */
  isPooled?: boolean;
  /** How long to wait for a connection. */
  waitMilliseconds?: number;
  /** See named-statements.ts. */
  plansOnce?: boolean;
  Client?: typeof pg.Client;
  isCitus?: boolean;
  /** See `noteStatement`. */
  notesStatements?: boolean;
  /** Called for each statement that fails. */
  noteError?: (error: unknown) => void;
}

export function openDatabase(
  url: string,
  onError: (error: Error) => void,
  {
    size = poolSize,
    statementMilliseconds = 15_000,
    waitMilliseconds = connectionMilliseconds,
    isPooled = false,
    command,
    plansOnce = false,
    Client = pg.Client,
    isCitus = false,
    notesStatements = false,
    noteError = () => undefined,
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
    ...(isPooled
      ? {}
      : {
          statement_timeout: statementMilliseconds,
          idle_in_transaction_session_timeout: idleMilliseconds,
          // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it
          ...(statementMilliseconds > 0 ? { onConnect: planQuickly(waitMilliseconds) } : {}),
        }),
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
    if (!isPooled) nameStatements(client, { plansOnce });
  });
  pgPool.on('remove', (client) => client instanceof pg.Client && clients.delete(client));
  const { connect, usage } = createShares(pgPool, { size, isPooled, statementMilliseconds, noteError });
  const kyselyOn = createKysely({ isCitus, notesStatements });
  return {
    db: kyselyOn(connect),
    dbFor: (asking) => kyselyOn(() => connect(asking)),
    connect,
    query: async (statement, values) => {
      const connection = await connect();
      try {
        return await connection.query(statement, values);
      } finally {
        connection.release();
      }
    },
    usage,
    close: async () => {
      if (await isDoneWithin(closeMilliseconds, pgPool.end())) return;
      // The pool waits for every statement under way, and pg waits for the server to say goodbye. A frozen one never does.
      for (const client of clients) client.connection.stream.destroy();
    },
  };
}

/** By a statement, because options of the connection would replace those in DATABASE_URL. If it fails, the pool ends the connection. */
const planQuickly = (milliseconds: number) => (client: pg.ClientBase) =>
  withinDeadline(
    undefined,
    milliseconds,
    () => client.query(quickPlanning.map((setting) => `set ${setting}`).join('; ')),
    () => undefined,
  );

/**
 * One merchant account holds at most half of the connections. The requests of a key pair about several accounts, or about none, hold
 * three tenths. A key pair with several accounts holds at most seven tenths, over all of them.
 */
function createShares(
  pgPool: pg.Pool,
  { size, ...options }: ConnectionOptions & { size: number },
): Pick<Database, 'connect' | 'usage'> {
  const shareOf = (part: number) => createFairShare(Math.ceil(size * part), connectionMilliseconds);
  const [accounts, acrossAccounts, keyPairs] = [shareOf(0.5), shareOf(0.3), shareOf(0.7)];
  /** If nobody waits any more when it arrives, it is given back. */
  const wait = <T>(deadline: Deadline | undefined, work: () => Promise<T>, giveBack: (late: T) => void) =>
    withinDeadline(deadline, Infinity, work, (_error, working) => {
      working.then(giveBack, () => undefined);
    });
  const enter = (share: FairShare, owner: string, deadline: Deadline | undefined) =>
    wait(
      deadline,
      () => share.enter(owner),
      (late) => {
        late();
      },
    );
  /** The account first, so that requests that wait for a slow account leave the places of their pair to its other accounts. */
  const enterBoth = async ({ keyPair, account }: Owner, deadline: Deadline | undefined) => {
    const leaveAccount = await (account === undefined
      ? enter(acrossAccounts, keyPair, deadline)
      : enter(accounts, account, deadline));
    try {
      const leavePair = await enter(keyPairs, keyPair, deadline);
      return () => {
        leavePair();
        leaveAccount();
      };
    } catch (error) {
      leaveAccount();
      throw error;
    }
  };
  const connect = async ({ owner, deadline }: Asking = {}) => {
    const leave = owner && (await enterBoth(owner, deadline));
    try {
      const client = await wait(
        deadline,
        () => pgPool.connect(),
        (late) => {
          late.release();
        },
      );
      const release = (destroy: boolean) => {
        leave?.();
        client.release(destroy);
      };
      return connectionOf(client, options, release, deadline);
    } catch (error) {
      leave?.();
      throw error;
    }
  };
  const usage = () => ({
    most: size,
    inUse: pgPool.totalCount - pgPool.idleCount,
    waiting: pgPool.waitingCount + keyPairs.waiting() + accounts.waiting() + acrossAccounts.waiting(),
  });
  return { connect, usage };
}
