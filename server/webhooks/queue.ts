// The delivery queue, on pg-boss. Jobs are added in the same transaction as the change that caused the event.
import { CompiledQuery } from 'kysely';
import PgBoss from 'pg-boss';
import type { Db, Pool } from '../store/database.ts';

export const queueName = 'webhook-deliveries';

/** A delivery and its round of attempts. A replay starts a new round; jobs of older rounds are then ignored. */
export interface DueJob {
  deliveryId: string;
  round: number;
}

export interface Job extends DueJob {
  id: string;
}

export interface Queue {
  /** Runs in the given transaction. Postponed jobs have a lower priority: they are fetched after all others. */
  add: (
    db: Db,
    due: readonly DueJob[],
    options?: { afterSeconds?: number; postponed?: boolean },
  ) => Promise<void>;
  fetch: (limit: number) => Promise<Job[]>;
  complete: (db: Db, jobIds: readonly string[]) => Promise<void>;
  /** Extends the lease on these jobs: without a heartbeat a job becomes available to other workers. */
  heartbeat: (jobIds: readonly string[]) => Promise<void>;
  /** Ends the lease on a job: any worker can fetch it again after one second. */
  release: (jobId: string) => Promise<void>;
  close: () => Promise<void>;
}

// A worker that crashes leaves its jobs active. Without a heartbeat the lease expires after 20 s; pg-boss looks for expired
// leases every 10 s and makes those jobs available again.
const leaseSeconds = 20;
const supervisionSeconds = 10;
const retentionDays = 30;

export async function openQueue(
  pool: Pool,
  onError: (error: Error) => void,
  { supervise = true } = {},
): Promise<Queue> {
  const boss = new PgBoss({
    db: { executeSql: (text: string, values: unknown[]) => pool.query(text, values) },
    schedule: false,
    // Long-running processes supervise the queue; a command that only adds jobs does not.
    supervise,
    archiveCompletedAfterSeconds: 3600,
    deleteAfterDays: 1,
    maintenanceIntervalSeconds: supervisionSeconds,
  });
  boss.on('error', onError);
  const close = () => boss.stop({ graceful: false, close: false, wait: false });
  try {
    await withSchemaLock(pool, async () => {
      await boss.start();
      await boss.createQueue(queueName);
    });
  } catch (error) {
    // Otherwise the timers of pg-boss keep the process alive although the start failed.
    await close();
    throw error;
  }
  /** Lets pg-boss run its statements in a transaction of ours. */
  const executorOf = (db: Db) => ({
    executeSql: async (text: string, values: unknown[]) => ({
      rows: (await db.executeQuery(CompiledQuery.raw(text, values))).rows as object[],
    }),
  });
  return {
    async add(db, due, { afterSeconds = 0, postponed = false } = {}) {
      const startAfter = new Date(Date.now() + afterSeconds * 1000);
      const jobs = due.map(({ deliveryId, round }) => ({
        name: queueName,
        data: { deliveryId, round },
        priority: postponed ? -1 : 0,
        startAfter,
        expireInSeconds: leaseSeconds,
        // These retries are for expired leases only; failed deliveries follow schedule.ts.
        retryLimit: 1000,
        retryDelay: 1,
        keepUntil: new Date(startAfter.getTime() + retentionDays * 86_400_000),
      }));
      if (jobs.length > 0) await boss.insert(jobs, { db: executorOf(db) });
    },
    async fetch(limit) {
      const jobs = await boss.fetch<DueJob>(queueName, { batchSize: limit });
      return jobs.map(({ id, data }) => ({ id, ...data }));
    },
    async complete(db, jobIds) {
      // The options must be the fourth argument. The types of pg-boss also allow them as the third, but there they are
      // stored as the result of the job, and the job is completed outside of the transaction.
      await boss.complete(queueName, [...jobIds] as unknown as string, {}, { db: executorOf(db) });
    },
    async heartbeat(jobIds) {
      // pg-boss has no heartbeat, but measures the lease from `started_on`.
      await pool.query(
        `update pgboss.job set started_on = now() where name = $1 and id = any($2::uuid[]) and state = 'active'`,
        [queueName, jobIds],
      );
    },
    async release(jobId) {
      await boss.fail(queueName, jobId);
    },
    close,
  };
}

/** Two processes that create the queue's tables at the same time would deadlock. */
async function withSchemaLock(pool: Pool, work: () => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('set local statement_timeout = 0');
    await client.query('set local idle_in_transaction_session_timeout = 0');
    await client.query(`select pg_advisory_xact_lock(hashtextextended('webhook queue', 0))`);
    await work();
  } finally {
    // Nothing was changed on this connection; the end of the transaction releases the lock.
    await client.query('rollback').finally(() => {
      client.release();
    });
  }
}
