// The connection pool. It reconnects by itself after the database was down.
import pg from 'pg';
import { parseJson } from '../../client/json.ts';
import { contractVersion } from '../../generated/operations.ts';
import { Crowded } from '../faults.ts';
import { isDoneWithin } from '../rules/async.ts';
import {
  amongOthers,
  connectionOf,
  idleMilliseconds,
  refuseCrowded,
  sessionSettings,
  withinDeadline,
  type Connection,
  type ConnectionOptions,
  type Deadline,
} from './connection.ts';
import { createFairShare, type FairShare } from './fair-share.ts';
import { createKysely } from './kysely.ts';
import { createNamingSend } from './named-statements.ts';
import { readBytes, sendWithoutName, type SendStatement } from './protocol.ts';
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
  /** Its statements take no time, so slow ones of the same owner leave some connections to it. */
  isQuick?: boolean;
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

/** Connections for requests, and how long a request waits for one of them, and for others of its owner. */
const poolSize = 10;
export const connectionMilliseconds = 2_000;

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
          onConnect: setUp(sessionSettings(statementMilliseconds), waitMilliseconds),
        }),
    keepAlive: true,
  });
  pgPool.on('error', onError);
  // Without a listener, a lost connection that is in use crashes the process.
  pgPool.on('connect', (client) => client.on('error', onError));
  /** How statements are sent to each client of the pool. */
  const clients = new Map<pg.PoolClient, SendStatement>();
  pgPool.on('connect', (client) => {
    // Behind a pooler, each transaction may have another connection to PostgreSQL, which does not know the names.
    clients.set(client, isPooled ? sendWithoutName(client) : createNamingSend(client, { plansOnce }));
  });
  pgPool.on('remove', (client) => clients.delete(client));
  const sendTo = (client: pg.PoolClient) => clients.get(client) ?? sendWithoutName(client);
  const options = { size, isPooled, statementMilliseconds, noteError };
  const { connect, usage } = createShares(pgPool, sendTo, options);
  const kyselyOn = createKysely({ isCitus, notesStatements });
  return {
    db: kyselyOn(connect),
    dbFor: (asking) => kyselyOn(() => connect(asking)),
    connect,
    query: async (text, values, execution) => {
      const connection = await connect();
      try {
        return await connection.query(text, values, execution);
      } finally {
        connection.release();
      }
    },
    usage,
    close: async () => {
      if (await isDoneWithin(closeMilliseconds, pgPool.end())) return;
      // The pool waits for every statement under way, and pg waits for the server to say goodbye. A frozen one never does.
      for (const client of clients.keys()) client.connection.stream.destroy();
    },
  };
}

/** By a statement, because options of the connection would replace those in DATABASE_URL. If it fails, the pool ends the connection. */
const setUp = (settings: string[], milliseconds: number) => (client: pg.ClientBase) =>
  withinDeadline(
    undefined,
    milliseconds,
    () => client.query(settings.map((setting) => `set ${setting}`).join('; ')),
    () => undefined,
  );

/**
 * One merchant account, or one key pair, holds at most seven tenths of the connections. With what may be slow an account holds at most
 * half, a key pair six tenths over all of its accounts, and three tenths with requests about several accounts, or about none.
 */
function createShares(
  pgPool: pg.Pool,
  sendTo: (client: pg.PoolClient) => SendStatement,
  { size, ...options }: ConnectionOptions & { size: number },
): Pick<Database, 'connect' | 'usage'> {
  const shareOf = (part: number) => createFairShare(Math.ceil(size * part));
  const [accounts, keyPairs] = [shareOf(0.7), shareOf(0.7)];
  const slow = { accounts: shareOf(0.5), keyPairs: shareOf(0.6), acrossAccounts: shareOf(0.3) };
  /** The account first, so that requests that wait for a slow account leave the places of their pair to its other accounts. */
  const sharesOf = ({ keyPair, account }: Owner, isQuick: boolean): [FairShare, string][] => {
    const ofAccount = (share: FairShare): [FairShare, string][] =>
      account === undefined ? [] : [[share, account]];
    const all: [FairShare, string][] = [...ofAccount(accounts), [keyPairs, keyPair]];
    if (isQuick) return all;
    const across: [FairShare, string][] = account === undefined ? [[slow.acrossAccounts, keyPair]] : [];
    return [...ofAccount(slow.accounts), ...across, [slow.keyPairs, keyPair], ...all];
  };
  const inTurn = async (entering: Promise<() => void>, deadline: Deadline | undefined) => {
    const { turn = { left: connectionMilliseconds } } = deadline ?? {};
    const isLate = () => undefined;
    try {
      const waiting = () => amongOthers(deadline, () => entering, isLate);
      return await withinDeadline(turn, Infinity, waiting, isLate);
    } catch {
      // Its turn comes later, or never.
      entering.then(
        (leave) => {
          leave();
        },
        () => undefined,
      );
      throw new Crowded('too many requests of one merchant account or key pair wait for the database');
    }
  };
  const enter = async (shares: [FairShare, string][], deadline: Deadline | undefined) => {
    const entered: (() => void)[] = [];
    const leave = () => {
      for (const leaveOne of entered) leaveOne();
    };
    try {
      for (const [share, owner] of shares) {
        const entering = share.enter(owner);
        entered.push(entering instanceof Promise ? await inTurn(entering, deadline) : entering);
      }
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  };
  const connect = async ({ owner, isQuick = false, deadline }: Asking = {}) => {
    const leave = owner && (await enter(sharesOf(owner, isQuick), deadline));
    try {
      refuseCrowded(deadline);
      const client = await withinDeadline(
        deadline,
        Infinity,
        () => pgPool.connect(),
        (_error, connecting) => {
          connecting.then(
            (late) => {
              late.release();
            },
            () => undefined,
          );
        },
      );
      const release = (destroy: boolean) => {
        leave?.();
        client.release(destroy);
      };
      return connectionOf(client, sendTo(client), options, release, deadline);
    } catch (error) {
      leave?.();
      throw error;
    }
  };
  const usage = () => ({
    most: size,
    inUse: pgPool.totalCount - pgPool.idleCount,
    waiting: [accounts, keyPairs, ...Object.values(slow)].reduce(
      (sum, share) => sum + share.waiting(),
      pgPool.waitingCount,
    ),
  });
  return { connect, usage };
}
