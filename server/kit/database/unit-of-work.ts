// A unit of work: one database transaction with its outbox inside. Everything that changes state takes one, so a change and
// its event are committed together or not at all.
import { setTimeout as wait } from 'node:timers/promises';
import { type DatabaseConnection, type Kysely, type Transaction, sql } from 'kysely';
import { packageName, type EventName, type EventPayload } from '../../../generated/operations.ts';
import { codeOf, isConnectionLost } from '../faults.ts';
import type { DatabaseTime } from '../rules/database-time.ts';
import type { TablesWithoutEvents } from './tables.ts';

/** Enough for changes that have no events. */
export interface Work {
  readonly db: Tx;
  readonly now: DatabaseTime;
}

/** Of a unit of work whose changes are in the audit trail: see maintenance/audit.ts. */
export interface AuditedChange {
  /** Notes, in the same transaction, that something was changed. `about`: the ID of it, if the command does not name it. */
  readonly audit: (note: { about?: string | undefined }) => Promise<void>;
}

/** Runs work in a transaction of its own. Work that has changed something calls `unit.audit`. */
export type InStep = <T>(work: (unit: Work & AuditedChange) => Promise<T>) => Promise<T>;

export interface UnitOfWork extends Work {
  /** For links in events. */
  readonly publicUrl: string;
  /** Stores an event for its subscribers, in this transaction. Undefined in a unit that was made silent. */
  readonly publish:
    | (<Name extends EventName>(
        name: Name,
        account: string,
        target: Target<Name>,
        /** ID of a subscription, if the others shall not get it. */
        only?: string,
      ) => Promise<Published>)
    | undefined;
}

export type Target<Name extends EventName> = EventPayload<Name>['target'];

export interface Published {
  id: string;
  /** How many subscriptions it goes to. */
  deliveries: number;
}

/** Where events go: events/outbox.ts. */
export type Outbox = (
  tx: Tx,
  name: EventName,
  account: string,
  target: object,
  at: DatabaseTime,
  only?: string,
) => Promise<Published>;

/** Gets what the work returns, and the transaction that is about to commit. If it throws, that is rolled back. */
export type BeforeCommit<T> = (result: T, unit: Work) => Promise<void> | void;

/** `Any` is what the results must have in common. */
export type InUnitOfWork<Any = unknown> = <T extends Any>(
  work: (unit: UnitOfWork) => Promise<T>,
  hooks?: { beforeCommit: readonly BeforeCommit<T>[] },
) => Promise<T>;

export interface UnitOfWorkOptions {
  outbox: Outbox;
  publicUrl: () => string;
  /** Called after the commit of a unit that has published something for a subscription. */
  onPublished?: (() => void) | undefined;
  /** False for work that reads a stream: it cannot be repeated. */
  isRepeatable?: boolean;
}

/**
 * Units of work on a database. They commit when `work` and the hooks are done, and roll back when it throws. After a deadlock and the like all of
 * `work` is repeated, so it must change nothing but the database, and call no provider.
 */
export const createUnitOfWork =
  ({ outbox, publicUrl, onPublished, isRepeatable = true }: UnitOfWorkOptions) =>
  (db: Db): InUnitOfWork =>
  async (work, { beforeCommit } = { beforeCommit: [] }) => {
    let deliveries = 0;
    const result = await (isRepeatable ? inTransaction : inTransactionOnce)(db, async (tx, now) => {
      deliveries = 0;
      const unit: UnitOfWork = {
        db: tx,
        now,
        publicUrl: publicUrl(),
        publish: async (name, account, target, only) => {
          const published = await outbox(tx, name, account, target, now, only);
          deliveries += published.deliveries;
          return published;
        },
      };
      const done = await work(unit);
      for (const hook of beforeCommit) await hook(done, unit);
      return done;
    });
    if (deliveries > 0) onPublished?.();
    return result;
  };

/** For changes that have no events. It is repeated like a unit of work. */
export const inWork = <T>(db: Db, work: (unit: Work) => Promise<T>): Promise<T> =>
  inTransaction(db, (tx, now) => work({ db: tx, now }));

/** Why subscribers hear nothing of a change. */
type Silence = 'imported without --events' | 'sample data' | 'seeded';

/** The same unit of work without events. The reason is for the reader of the code. */
export const silently = (unit: Work, _reason: Silence): UnitOfWork => ({
  ...unit,
  publicUrl: '',
  publish: undefined,
});

// Transactions, repeated where that is safe: see docs/decisions/0021-poolers-and-retries.md.

/** A pool or a transaction. The caller of a query chooses. */
export type Db = Kysely<TablesWithoutEvents>;

/** A transaction. Functions that change rows require one, so a change outside of a transaction does not compile. */
export type Tx = Transaction<TablesWithoutEvents>;

const attempts = 4;
const pauseMilliseconds = 20;

/** A connection, with what `begin` told: see kysely.ts. */
export interface Begun extends DatabaseConnection {
  began?: DatabaseTime;
}

/** When the transaction began. Asks nobody. */
const timeOf = (tx: Tx): Promise<DatabaseTime> =>
  tx.getExecutor().provideConnection((connection) => {
    const { began } = connection as Begun;
    if (!began) throw new Error('This is not a transaction.');
    return Promise.resolve(began);
  });

/** What is done in a transaction. `now` is when it began. */
type InTransaction<T> = (tx: Tx, now: DatabaseTime) => Promise<T>;

/**
 * Commits when `work` is done, rolls back when it throws. A deadlock, a serialization failure, and a connection that was lost
 * before the commit was sent changed nothing: then all of `work` is repeated, so it must change nothing but the database.
 */
export async function inTransaction<T>(db: Db, work: InTransaction<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const state = { commitSent: false };
    try {
      return await inTransactionOnce(db, work, state);
    } catch (error) {
      // serialization_failure, deadlock_detected: PostgreSQL says so itself, and has rolled back.
      const isUndone = ['40001', '40P01'].includes(codeOf(error) ?? '');
      if (attempt === attempts || !(isUndone || (!state.commitSent && isConnectionLost(error)))) throw error;
    }
    // Random, so that two transactions that met do not meet again, and longer each time.
    await wait(Math.random() * pauseMilliseconds * 2 ** attempt);
  }
}

/** For work that cannot be repeated, such as one that reads a stream. */
export async function inTransactionOnce<T>(
  db: Db,
  work: InTransaction<T>,
  state = { commitSent: false },
): Promise<T> {
  let fault: unknown;
  try {
    return await db.transaction().execute(async (tx) => {
      try {
        const result = await work(tx, await timeOf(tx));
        // Kysely sends it next. A connection that is lost from here on leaves open whether the commit succeeded.
        state.commitSent = true;
        return result;
      } catch (error) {
        fault = error;
        throw error;
      }
    });
  } catch (error) {
    // The first one: a rollback on a lost connection fails, too, and Kysely then throws that.
    throw fault ?? error;
  }
}

/** Only reads, and all of its statements see the same data. */
export const inSnapshot = <T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.transaction().setIsolationLevel('repeatable read').execute(work);

// PostgreSQL advisory locks, for work that only one process may do at a time.

/** Waits for the lock. The end of the transaction releases it. */
export const lockUntilCommit = async (db: Tx, name: string): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
};

/** `waitForOlderTransactions` ignores transactions with this name: they only hold a lock. */
export const lockHolder = `${packageName} lock`;

/**
 * Runs `work` while a transaction on a connection of its own holds the lock; undefined when another process holds it. Not a lock of
 * the session: behind a pooler it would stay with a connection that others get. The transaction is idle meanwhile and has no
 * snapshot, so neither vacuum nor `create index concurrently` waits for it.
 */
export function withLock<T>(
  db: Db,
  name: string,
  work: (now: DatabaseTime) => Promise<T>,
): Promise<{ done: T } | undefined> {
  return inTransactionOnce(db, async (tx, now) => {
    // Without parameters: those of the extended protocol leave a portal open, and with it a snapshot. PostgreSQL 17 also has
    // `transaction_timeout`.
    const { rows } = await sql<{ free: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended(${sql.lit(name)}, 0)) as free,
        set_config('application_name', ${sql.lit(lockHolder)}, true),
        (select count(set_config(name, '0', true)) from pg_settings
          where name in ('idle_in_transaction_session_timeout', 'transaction_timeout'))`.execute(tx);
    return rows[0]?.free === true ? { done: await work(now) } : undefined;
  });
}
