// pg-boss, as this service uses it: one queue of deliveries, sent to inside the transaction of the change they tell of.
import { CompiledQuery } from 'kysely';
import PgBoss from 'pg-boss';
import type pg from 'pg';
import type { Db } from '../store/database.ts';

export const queueName = 'webhook-deliveries';

export interface DeliveryJob {
  deliveryId: string;
  subscriptionId?: string;
}

export interface Queue {
  /** Inside the transaction that is handed in: rolled back with it, there when it is committed. */
  add: (db: Db, deliveryIds: readonly string[], afterSeconds?: number) => Promise<void>;
  fetch: (most: number) => Promise<{ id: string; deliveryId: string }[]>;
  complete: (db: Db, jobId: string) => Promise<void>;
  /** Gives a job back, to be taken again in a second. */
  giveBack: (jobId: string) => Promise<void>;
  close: () => Promise<void>;
}

// A worker that dies in the middle of an attempt leaves its job active; after this it is tried again.
const expireInSeconds = 120;

export async function openQueue(
  pool: pg.Pool,
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
    maintenanceIntervalSeconds: 30,
  });
  boss.on('error', onError);
  await boss.start();
  await boss.createQueue(queueName);
  const within = (db: Db) => ({
    executeSql: async (text: string, values: unknown[]) => ({
      rows: (await db.executeQuery(CompiledQuery.raw(text, values))).rows as object[],
    }),
  });
  return {
    async add(db, deliveryIds, afterSeconds = 0) {
      const startAfter = new Date(Date.now() + afterSeconds * 1000);
      const jobs = deliveryIds.map((deliveryId) => ({
        name: queueName,
        data: { deliveryId },
        startAfter,
        expireInSeconds,
        // Only for workers that die; a failed attempt is scheduled by us.
        retryLimit: 1000,
        retryDelay: 1,
        keepUntil: new Date(startAfter.getTime() + 30 * 24 * 3600 * 1000),
      }));
      if (jobs.length > 0) await boss.insert(jobs, { db: within(db) });
    },
    async fetch(most) {
      const jobs = await boss.fetch<DeliveryJob>(queueName, { batchSize: most });
      return jobs.map(({ id, data }) => ({ id, deliveryId: data.deliveryId }));
    },
    async complete(db, jobId) {
      await boss.complete(queueName, jobId, { db: within(db) });
    },
    async giveBack(jobId) {
      await boss.fail(queueName, jobId);
    },
    close: () => boss.stop({ graceful: false, close: false, wait: false }),
  };
}
