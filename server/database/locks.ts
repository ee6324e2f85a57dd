// PostgreSQL advisory locks, for work that only one process may do at a time.
import { sql } from 'kysely';
import { inTransactionOnce, type Db, type Tx } from './database.ts';

/** Waits for the lock. The end of the transaction releases it. */
export const lockUntilCommit = async (db: Tx, name: string): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
};

/** By this name `waitForOlderTransactions` knows transactions that only hold a lock. */
export const lockHolder = 'payments-service lock';

/**
 * Runs `work` while a transaction on a connection of its own holds the lock; undefined when another process holds it. Not a lock of
 * the session: behind a pooler it would stay with a connection that others get. The transaction is idle meanwhile and has no
 * snapshot, so neither vacuum nor `create index concurrently` waits for it.
 */
export function withLock<T>(db: Db, name: string, work: () => Promise<T>): Promise<{ done: T } | undefined> {
  return inTransactionOnce(db, async (tx) => {
    // Without parameters: those of the extended protocol leave a portal open, and with it a snapshot. PostgreSQL 17 also has
    // `transaction_timeout`.
    const { rows } = await sql<{ free: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended(${sql.lit(name)}, 0)) as free,
        set_config('application_name', ${sql.lit(lockHolder)}, true),
        (select count(set_config(name, '0', true)) from pg_settings
          where name in ('idle_in_transaction_session_timeout', 'transaction_timeout'))`.execute(tx);
    return rows[0]?.free === true ? { done: await work() } : undefined;
  });
}
