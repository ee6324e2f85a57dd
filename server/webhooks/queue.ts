// pg-boss, as this service uses it: one queue of deliveries, sent to inside the transaction of the change they tell of.
import { CompiledQuery } from 'kysely';
import PgBoss from 'pg-boss';
import type { Db, Pool } from '../store/database.ts';

export const queueName = 'webhook-deliveries';

/** A delivery, and the round of attempts that the job is for: a replay begins a new one, and ends the older jobs. */
export interface DueJob {
  deliveryId: string;
  round: number;
}

export interface Job extends DueJob {
  id: string;
}

export interface Queue {
  /**
   * Inside the transaction that is handed in: rolled back with it, there when it is committed. What is postponed is taken
   * only after all that is not.
   */
  add: (
    db: Db,
    due: readonly DueJob[],
    options?: { afterSeconds?: number; postponed?: boolean },
  ) => Promise<void>;
  fetch: (most: number) => Promise<Job[]>;
  complete: (db: Db, jobIds: readonly string[]) => Promise<void>;
  /** Says that somebody still works on these: a job that nobody speaks of for a while is given to another. */
  keep: (jobIds: readonly string[]) => Promise<void>;
  /** Gives a job back, to be taken again in a second. */
  giveBack: (jobId: string) => Promise<void>;
  close: () => Promise<void>;
}

// A worker that dies in the middle of an attempt leaves its jobs active. It spoke of them every few seconds while it lived
// (see `keep`); after this silence, looked for this often, they are tried again.
const silenceSeconds = 20;
const supervisionSeconds = 10;
const keepDays = 30;

export async function openQueue(
  pool: Pool,
  onError: (error: Error) => void,
  { supervise = true } = {},
): Promise<Queue> {
  const boss = new PgBoss({
    db: { executeSql: (text: string, values: unknown[]) => pool.query(text, values) },
    schedule: false,
    // Whoever works for long looks after the queue; a command that only sends does not.
    supervise,
    archiveCompletedAfterSeconds: 3600,
    deleteAfterDays: 1,
    maintenanceIntervalSeconds: supervisionSeconds,
  });
  boss.on('error', onError);
  const close = () => boss.stop({ graceful: false, close: false, wait: false });
  try {
    await oneAtATime(pool, async () => {
      await boss.start();
      await boss.createQueue(queueName);
    });
  } catch (error) {
    // Its timers would keep a process alive that could not start.
    await close();
    throw error;
  }
  const within = (db: Db) => ({
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
        expireInSeconds: silenceSeconds,
        // Only for workers that die; a failed attempt is scheduled by us.
        retryLimit: 1000,
        retryDelay: 1,
        keepUntil: new Date(startAfter.getTime() + keepDays * 86_400_000),
      }));
      if (jobs.length > 0) await boss.insert(jobs, { db: within(db) });
    },
    async fetch(most) {
      const jobs = await boss.fetch<DueJob>(queueName, { batchSize: most });
      return jobs.map(({ id, data }) => ({ id, ...data }));
    },
    async complete(db, jobIds) {
      // pg-boss takes options in the fourth place. Its types, which know several IDs only without a result, also allow them
      // in the third: there they are stored as the result, and the job is completed outside of the transaction.
      await boss.complete(queueName, [...jobIds] as unknown as string, {}, { db: within(db) });
    },
    async keep(jobIds) {
      // pg-boss counts from `started_on` and has no call for this.
      await pool.query(
        `update pgboss.job set started_on = now() where name = $1 and id = any($2::uuid[]) and state = 'active'`,
        [queueName, jobIds],
      );
    },
    async giveBack(jobId) {
      await boss.fail(queueName, jobId);
    },
    close,
  };
}

/** Two that make the queue's tables at the same instant would deadlock. */
async function oneAtATime(pool: Pool, work: () => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('set local statement_timeout = 0');
    await client.query('set local idle_in_transaction_session_timeout = 0');
    await client.query(`select pg_advisory_xact_lock(hashtextextended('webhook queue', 0))`);
    await work();
  } finally {
    // There is nothing to commit: this ends the lock.
    await client.query('rollback').finally(() => {
      client.release();
    });
  }
}
