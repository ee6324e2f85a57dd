// Transactions, repeated where that is safe: see docs/decisions/0021-poolers-and-retries.md.
import { setTimeout as wait } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './tables.ts';

/** A pool or a transaction. The caller of a query chooses. */
export type Db = Kysely<Tables>;

/** A transaction. Functions that change rows require one, so a change outside of a transaction does not compile. */
export type Tx = Transaction<Tables>;

const attempts = 4;
const pauseMilliseconds = 20;

/**
 * Commits when `work` is done, rolls back when it throws. A deadlock, a serialization failure, and a connection that was lost
 * before the commit was sent changed nothing: then all of `work` is repeated, so it must change nothing but the database.
 */
export async function inTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const state: State = { commitSent: false, fault: undefined };
    try {
      return await once(db, work, state);
    } catch (error) {
      // The first one: a rollback on a lost connection fails, too, and Kysely then throws that.
      const fault = state.fault ?? error;
      if (attempt === attempts || !canRepeat(fault, state)) throw fault;
    }
    // Random, so that two transactions that met do not meet again, and longer each time.
    await wait(Math.random() * pauseMilliseconds * 2 ** attempt);
  }
}

/** For work that cannot be repeated, such as one that reads a stream. */
export async function inTransactionOnce<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  const state: State = { commitSent: false, fault: undefined };
  try {
    return await once(db, work, state);
  } catch (error) {
    throw state.fault ?? error;
  }
}

interface State {
  commitSent: boolean;
  fault: unknown;
}

const once = <T>(db: Db, work: (tx: Tx) => Promise<T>, state: State): Promise<T> =>
  db.transaction().execute(async (tx) => {
    try {
      const result = await work(tx);
      // Kysely sends it next. A connection that is lost from here on leaves open whether the commit succeeded.
      state.commitSent = true;
      return result;
    } catch (error) {
      state.fault = error;
      throw error;
    }
  });

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** serialization_failure, deadlock_detected: PostgreSQL says so itself, and has rolled back. */
const isRolledBack = (error: unknown) => ['40001', '40P01'].includes(codeOf(error));

const canRepeat = (error: unknown, { commitSent }: State): boolean =>
  isRolledBack(error) || (!commitSent && isConnectionLost(error));

/** admin_shutdown, crash_shutdown, class 08 (PgBouncer reports a lost server connection so), or the socket itself. */
const isConnectionLost = (error: unknown): boolean =>
  /^(08...|57P01|57P02|ECONNRESET|EPIPE)$/.test(codeOf(error)) ||
  (error instanceof Error && lostMessages.some((message) => error.message.startsWith(message)));

/** pg has no codes for these. */
const lostMessages = [
  'Connection terminated',
  'Client has encountered a connection error and is not queryable',
];
