// The connection pool. It reconnects by itself after the database was down.
import pg from 'pg';
import { parseJson } from '../../../client/json.ts';
import { contractVersion, packageName } from '../../../generated/operations.ts';
import { Overloaded } from '../faults.ts';
import { isDoneWithin } from '../rules/async.ts';
import {
  amongOthers,
  connectionOf,
  idleMilliseconds,
  refuseOverloaded,
  sessionSettings,
  withinDeadline,
  type Connection,
  type Deadline,
  connectionMilliseconds,
} from './connection.ts';
import { createFairShare, type Entered } from './fair-share.ts';
import { createKysely } from './kysely.ts';
import { createNamingSend } from './named-statements.ts';
import { readBytes, sendWithoutName, type SendStatement } from './protocol.ts';
import type { Db } from './unit-of-work.ts';

export { inTransaction, inTransactionOnce, type Db, type Tx } from './unit-of-work.ts';

/** Who a request is for. */
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

const poolSize = 10;

/** In pg_stat_activity, such as `payments-service 1.0.0 webhooks work`. See also reseal.ts. */
const nameOf = (command: string | undefined): string =>
  [packageName, contractVersion, ...(command === undefined ? [] : [command])].join(' ').slice(0, 63);

export interface DatabaseOptions {
  /** The command whose connections these are. Undefined for an instance of the service. */
  command?: string | undefined;
  size?: number;
  /** 0 disables the timeout. */
  statementMilliseconds?: number;
  /** Whether a pooler may give each transaction another connection to PostgreSQL. */
  isPooled?: boolean;
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
  const clients = new Map<pg.PoolClient, SendStatement>();
  pgPool.on('connect', (client) => {
    // Behind a pooler, each transaction may have another connection to PostgreSQL, which does not know the names.
    clients.set(client, isPooled ? sendWithoutName(client) : createNamingSend(client, { plansOnce }));
  });
  pgPool.on('remove', (client) => clients.delete(client));
  const options = { isPooled, statementMilliseconds, noteError };
  const sendTo = (client: pg.PoolClient) => clients.get(client) ?? sendWithoutName(client);
  const turns = createTurns(size);
  const connect = async ({ owner, deadline }: Asking = {}) => {
    const leave = owner && (await turns.enter(owner, deadline));
    try {
      refuseOverloaded(deadline);
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
    usage: () => ({
      most: size,
      inUse: pgPool.totalCount - pgPool.idleCount,
      waiting: pgPool.waitingCount + turns.waiting(),
    }),
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
 * Whoever a request is for waits here before it takes a connection. A merchant account holds at most half of the connections, and a key
 * pair, over all of its accounts, six tenths: so others find some free.
 */
function createTurns(size: number) {
  const accounts = createFairShare(Math.ceil(size * 0.5));
  const keyPairs = createFairShare(Math.ceil(size * 0.6));
  const enter = async ({ account, keyPair }: Owner, deadline: Deadline | undefined) => {
    const places: Entered[] = [];
    const leave = () => {
      for (const place of places) place.leave();
    };
    try {
      // The account first, so that what waits for a busy account leaves the places of its pair to its other accounts.
      for (const [share, owner] of [[accounts, account] as const, [keyPairs, keyPair] as const]) {
        if (owner === undefined) continue;
        const place = share.enter(owner);
        places.push(place);
        if (place.turn) await waitFor(place.turn, deadline);
      }
      return leave;
    } catch {
      leave();
      throw new Overloaded('too many requests of one merchant account or key pair wait for the database');
    }
  };
  return { enter, waiting: () => accounts.waiting() + keyPairs.waiting() };
}

async function waitFor(turn: Promise<void>, deadline: Deadline | undefined): Promise<void> {
  const { turn: limit = { left: connectionMilliseconds } } = deadline ?? {};
  const ignore = () => undefined;
  await withinDeadline(limit, Infinity, () => amongOthers(deadline, () => turn, ignore), ignore);
}
