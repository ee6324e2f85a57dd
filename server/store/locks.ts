// PostgreSQL advisory locks, for work that only one process may do at a time.
import { sql } from 'kysely';
import type { Db, Tx } from './database.ts';

/** Waits for the lock. The end of the transaction releases it. */
export const lockUntilCommit = async (db: Tx, name: string): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
};

/** Runs `work` while a separate connection holds the lock; undefined when another process holds it. */
export function withLock<T>(db: Db, name: string, work: () => Promise<T>): Promise<{ done: T } | undefined> {
  return db.connection().execute(async (connection) => {
    const { rows } = await sql<{ free: boolean }>`
      select pg_try_advisory_lock(hashtextextended(${name}, 0)) as free`.execute(connection);
    if (rows[0]?.free !== true) return undefined;
    try {
      return { done: await work() };
    } finally {
      await sql`select pg_advisory_unlock(hashtextextended(${name}, 0))`.execute(connection);
    }
  });
}
