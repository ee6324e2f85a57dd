import { setTimeout as wait } from 'node:timers/promises';
import type { Pool } from '../store/database.ts';

const lockPollMilliseconds = 100;

/** Two processes that create the queue's tables at the same time would deadlock. */
export async function withSchemaLock(pool: Pool, work: () => Promise<void>): Promise<void> {
  // Polls: one that waits in a statement holds a connection, which `work` of another may need behind a pooler.
  while (!(await tryWithSchemaLock(pool, work))) await wait(lockPollMilliseconds);
}

async function tryWithSchemaLock(pool: Pool, work: () => Promise<void>): Promise<boolean> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('set local idle_in_transaction_session_timeout = 0');
    const { rows } = await client.query<{ free: boolean }>(
      `select pg_try_advisory_xact_lock(hashtextextended('webhook queue', 0)) as free`,
    );
    const isFree = rows[0]?.free === true;
    if (isFree) await work();
    // Nothing was changed on this connection; the end of the transaction releases the lock.
    await client.query('rollback');
    client.release();
    return isFree;
  } catch (error) {
    // Closes the connection, which ends the transaction.
    client.release(true);
    throw error;
  }
}
