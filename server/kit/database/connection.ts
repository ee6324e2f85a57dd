// A connection as queries use it: every statement has a limit that the client keeps, too, because a frozen database never
// answers, and a connection that did not answer is closed. Behind a pooler it has no session state: see
// docs/decisions/0021-poolers-and-retries.md.
import type pg from 'pg';
import { codeOf, Overloaded, DatabaseTimeout } from '../faults.ts';
import type { DatabaseTime } from '../rules/database-time.ts';
import type { Execution } from './execution.ts';
import { copyIn, type SendStatement } from './protocol.ts';

export const idleMilliseconds = 60_000;
/** PostgreSQL ends a statement itself, unless it is frozen or unreachable. */
const graceMilliseconds = 1_000;

/**
 * For statements that have a limit. If PostgreSQL expects a plan to be expensive, it compiles it or starts workers. That can take
 * seconds for a statement of a millisecond, when the expensive branch is never executed.
 */
const quickPlanning = ['jit = off', 'max_parallel_workers_per_gather = 0'];

/** Somebody may have set others for the role or the database. pg reads no other form of a date. */
const datesAsRead = 'datestyle = ISO';
/** Whoever waited for a lock must see what was committed meanwhile. */
export const beginToWrite = 'begin isolation level read committed';

/** Of a connection that nobody shares, and that must not end while it is idle. A statement of its own begins a transaction, too. */
export const sessionSettings = (statementMilliseconds: number): string[] => [
  datesAsRead,
  "default_transaction_isolation = 'read committed'",
  'idle_session_timeout = 0',
  ...(statementMilliseconds > 0 ? quickPlanning : []),
];

export interface Connection {
  query: <Row extends pg.QueryResultRow = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
    execution?: Execution,
  ) => Promise<pg.QueryResult<Row>>;
  /**
   * Begins a transaction. Returns its time, which `now()` also has in all of its statements. A snapshot only reads, and all of its
   * statements see the same data.
   */
  begin: (isSnapshot: boolean) => Promise<DatabaseTime>;
  end: (how: 'commit' | 'rollback') => Promise<void>;
  /** Closes it if `destroy`, or if it must not be used again. */
  release: (destroy?: boolean) => void;
}

export interface ConnectionOptions {
  isPooled: boolean;
  statementMilliseconds: number;
  /** Called for each statement that fails. */
  noteError: (error: unknown) => void;
}

/** `sendTo` sends a statement to this client. `release` is that of the checkout. */
export function connectionOf(
  client: pg.PoolClient,
  sendTo: SendStatement,
  { isPooled, statementMilliseconds, noteError }: ConnectionOptions,
  release: (destroy: boolean) => void,
  deadline?: Deadline,
): Connection {
  const limit = statementMilliseconds === 0 ? Infinity : statementMilliseconds + graceMilliseconds;
  let isUnusable = false;
  let isInTransaction = false;

  const send: Connection['query'] = async <Row extends pg.QueryResultRow>(
    text: string,
    values?: readonly unknown[],
    execution: Execution = {},
  ) => {
    const { copied } = execution;
    const run = () => (copied === undefined ? sendTo(text, values, execution) : copyIn(client, text, copied));
    try {
      return (await withinDeadline(deadline, limit, run, (error) => {
        // Not `end`, which waits for the statement under way.
        client.connection.stream.destroy(error);
      })) as pg.QueryResult<Row>;
    } catch (error) {
      // A statement that was not sent for lack of time may have been the rollback.
      // If it is read-only, a new connection may find the new primary, or that the setting has changed back.
      isUnusable ||= error instanceof DatabaseTimeout || codeOf(error) === '25006';
      noteError(error);
      throw error;
    }
  };

  // The settings and the time are in one message with `begin`: no statement runs without the limits, and they take no time of their own.
  const begin: Connection['begin'] = async (isSnapshot) => {
    isInTransaction = true;
    const settings = isPooled ? localSettings(statementMilliseconds) : [];
    const mode = isSnapshot ? 'begin isolation level repeatable read, read only' : beginToWrite;
    const message = [mode, ...settings, 'select now()::timestamptz(3) as now'].join('; ');
    // pg has one result for each statement of a message.
    const results = (await send(message, [])) as unknown as pg.QueryResult<{ now: DatabaseTime }>[];
    const { now } = results.at(-1)?.rows[0] ?? {};
    if (!now) throw new Error('The database did not tell its time.');
    return now;
  };
  const end: Connection['end'] = async (how) => {
    isInTransaction = false;
    await send(how, []);
  };

  /** A statement of its own: a transaction, because only that can have settings of its own behind a pooler. */
  const sendAlone: Connection['query'] = async <Row extends pg.QueryResultRow>(
    text: string,
    values?: readonly unknown[],
    execution: Execution = {},
  ) => {
    const inOrder = execution.plan === 'anewInOrder' ? inOrderPlanning : [];
    await send([beginToWrite, ...localSettings(statementMilliseconds), ...inOrder].join('; '));
    try {
      const result = await send<Row>(text, values, execution);
      await send('commit');
      return result;
    } catch (error) {
      await send('rollback').catch(() => {
        isUnusable = true;
      });
      throw error;
    }
  };

  const sendThroughPooler: Connection['query'] = (text, values, execution) =>
    isInTransaction ? send(text, values, execution) : sendAlone(text, values, execution);

  return {
    query: isPooled ? sendThroughPooler : send,
    begin,
    end,
    release: (destroy = false) => {
      // A `begin` or `rollback` that was cancelled leaves a transaction open, in which everything else would fail.
      release(destroy || isUnusable || client.getTransactionStatus() !== 'I');
    },
  };
}

const localSettings = (statementMilliseconds: number): string[] =>
  [
    datesAsRead,
    `statement_timeout = ${statementMilliseconds}`,
    `idle_in_transaction_session_timeout = ${idleMilliseconds}`,
    ...(statementMilliseconds > 0 ? quickPlanning : []),
  ].map((setting) => `set local ${setting}`);

const inOrderPlanning = ['set local enable_bitmapscan = off', 'set local enable_seqscan = off'];

/**
 * How long a request may still wait for the database, all statements together: a database that is frozen or slow must not keep a
 * caller waiting. What else a request waits for, such as a provider, does not count. What runs outside of a request has no deadline.
 */
export interface Deadline {
  /** Milliseconds. */
  left: number;
  /** How long it may still wait for other requests of its owner. */
  turn?: { left: number };
  /** How long it has waited for them. */
  waited?: number;
}

export const requestMilliseconds = 4_500;
/** How long a request waits for a connection, and for others of its owner. */
export const connectionMilliseconds = 2_000;

/** A caller has an answer within 5 s. */
export const newDeadline = (turnMilliseconds = connectionMilliseconds): Deadline => ({
  left: requestMilliseconds,
  turn: { left: turnMilliseconds },
});

/** With so much more time a request would have had an answer. */
const overloadedMilliseconds = 1_000;
/** What such a request must have left for a connection: its statements would be cut off. */
const leastMilliseconds = 500;

export function refuseOverloaded(deadline: Deadline | undefined, least = leastMilliseconds): void {
  const { left = Infinity, waited = 0 } = deadline ?? {};
  if (left <= least && waited >= overloadedMilliseconds)
    throw new Overloaded('too many requests of its owner came before it');
}

/** Waits for `work` until its own limit or the deadline. Then it calls `giveUp`, which must end what is under way, and fails. */
export async function withinDeadline<T>(
  deadline: Deadline | undefined,
  limitMilliseconds: number,
  work: () => Promise<T>,
  giveUp: (error: DatabaseTimeout, working: Promise<T>) => void,
): Promise<T> {
  const milliseconds = Math.min(limitMilliseconds, deadline?.left ?? Infinity);
  if (milliseconds === Infinity) return work();
  refuseOverloaded(deadline, 0);
  if (milliseconds <= 0) throw new DatabaseTimeout('the request has waited too long for the database');
  const begun = performance.now();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      const working = work();
      working.then(resolve, reject);
      timer = setTimeout(() => {
        const error = new DatabaseTimeout(
          `the database did not answer within ${Math.round(milliseconds)} ms`,
        );
        reject(error);
        giveUp(error, working);
      }, milliseconds);
    });
  } finally {
    clearTimeout(timer);
    if (deadline) deadline.left -= performance.now() - begun;
  }
}

/** Waits for other requests of the same owner. */
export async function amongOthers<T>(deadline: Deadline | undefined, ...waiting: Waiting<T>): Promise<T> {
  const begun = performance.now();
  try {
    return await withinDeadline(deadline, Infinity, ...waiting);
  } finally {
    if (deadline) deadline.waited = (deadline.waited ?? 0) + performance.now() - begun;
  }
}

type Waiting<T> = [work: () => Promise<T>, giveUp: (error: DatabaseTimeout, working: Promise<T>) => void];
