// The delivery queue, on pg-boss. Jobs are added in the same transaction as the change that caused the event.
import { CompiledQuery } from 'kysely';
import PgBoss from 'pg-boss';
import type { Db, Pool } from '../store/database.ts';
import { isOpen, keyOf, laneOf, createLaneIndex, queueName, type Lane } from './queue-lanes.ts';
import { withSchemaLock } from './schema-lock.ts';

/** A delivery and its round of attempts. A replay starts a new round; jobs of older rounds are then ignored. */
export interface Job {
  id: string;
  deliveryId: string;
  round: number;
  subscription_id: string;
  /** Of the event. */
  merchant_account_id: string;
  /** Of the request that caused the event. */
  traceparent?: string | undefined;
}

export type DueJob = Omit<Job, 'id'> & { afterSeconds?: number };

interface JobData {
  deliveryId: string;
  round: number;
  traceparent?: string | undefined;
}

export interface Queue {
  /** Runs in the given transaction. */
  add: (db: Db, due: readonly DueJob[]) => Promise<void>;
  /** Lanes that have jobs, in order, beginning after the given one, and whether a job is due. None when no job at all is. */
  lanes: (after: Lane | undefined, limit: number) => Promise<(Lane & { isDue: boolean })[]>;
  /** Fetches due jobs of these lanes, those of each lane in the order in which they became due. */
  fetch: (wanted: readonly (Lane & { limit: number })[]) => Promise<Job[]>;
  complete: (db: Db, jobIds: readonly string[]) => Promise<void>;
  /** Extends the lease on these jobs: without a heartbeat a job becomes available to other workers. */
  heartbeat: (jobIds: readonly string[]) => Promise<void>;
  /** Ends the lease on a job that was not begun: it is due as before. */
  putBack: (jobId: string) => Promise<void>;
  /** Ends the lease on a job: any worker can fetch it again after one second. */
  release: (jobId: string) => Promise<void>;
  /** Jobs that are due, and those that wait for their time. Of a long queue only a part is counted. */
  count: () => Promise<{ due: number; later: number }>;
  close: () => Promise<void>;
}

/** A scrape must not read a backlog of millions. */
const mostCounted = 100_000;

// A worker that crashes leaves its jobs active. Without a heartbeat the lease expires after 20 s; pg-boss looks for expired
// leases every 10 s and makes those jobs available again.
const leaseSeconds = 20;
const supervisionSeconds = 10;
const retentionDays = 30;

interface QueueOptions {
  /** Long-running processes supervise the queue; a command that only adds jobs does not. */
  supervise?: boolean;
  /** The `traceparent` of the request that runs now. */
  currentTrace?: (() => string | undefined) | undefined;
}

export async function openQueue(
  pool: Pool,
  onError: (error: Error) => void,
  { supervise = true, currentTrace }: QueueOptions = {},
): Promise<Queue> {
  const boss = new PgBoss({
    db: { executeSql: (text: string, values?: unknown[]) => pool.query(text, values) },
    schedule: false,
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
      await createLaneIndex(pool);
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
    async add(db, due) {
      const jobs = due.map(({ afterSeconds = 0, traceparent = currentTrace?.(), ...job }) => ({
        name: queueName,
        data: {
          deliveryId: job.deliveryId,
          round: job.round,
          traceparent,
        } satisfies JobData,
        singletonKey: keyOf(job),
        // From now on by the clock of the database, which also decides what is due: the clocks of instances differ.
        startAfter: `${afterSeconds} seconds`,
        expireInSeconds: leaseSeconds,
        // These retries are for expired leases only; failed deliveries follow schedule.ts.
        retryLimit: 1000,
        retryDelay: 1,
        keepUntil: new Date(Date.now() + afterSeconds * 1000 + retentionDays * 86_400_000),
      }));
      if (jobs.length > 0) await boss.insert(jobs, { db: executorOf(db) });
    },
    async lanes(after, limit) {
      // Jumps from lane to lane in the index, however many jobs each of them has.
      const next = (than: string) =>
        `select singleton_key as key, start_after from pgboss.job
         where name = $1 and ${isOpen} and singleton_key > ${than}
         order by singleton_key, start_after limit 1`;
      // Looked up first, because thousands of lanes may have nothing but retries of the next hours.
      const earliest = `select start_after from pgboss.job where name = $1 and ${isOpen} order by start_after limit 1`;
      const { rows } = await pool.query<{ key: string; isDue: boolean }>(
        `with recursive lanes as (
           select first.* from (${next('$2')}) as first where (${earliest}) < now()
           union all select found.* from lanes cross join lateral (${next('lanes.key')}) as found
         ) select key, start_after < now() as "isDue" from lanes limit $3`,
        [queueName, after ? keyOf(after) : '', limit],
      );
      return rows.map(({ key, isDue }) => ({ ...laneOf(key), isDue }));
    },
    // Not by `fetch` of pg-boss, which sorts all due jobs each time and takes the oldest: a backlog of one subscription would
    // be fetched again and again, only to find that there is no room for it.
    async fetch(wanted) {
      const { rows } = await pool.query<{ id: string; data: JobData; key: string }>(
        `with next as materialized (
           select job.id from unnest($2::text[], $3::integer[]) as wanted (key, most)
           cross join lateral (
             select id from pgboss.job
             where name = $1 and ${isOpen} and singleton_key = wanted.key and start_after < now()
             order by start_after limit wanted.most for update skip locked
           ) as job
         )
         update pgboss.job set state = 'active', started_on = now(),
           retry_count = retry_count + (started_on is not null)::integer
         from next where name = $1 and job.id = next.id returning job.id, data,
           singleton_key as key`,
        [queueName, wanted.map(keyOf), wanted.map(({ limit }) => limit)],
      );
      return rows.map(({ id, key, data }) => ({ id, ...data, ...laneOf(key) }));
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
    async putBack(jobId) {
      await pool.query(
        `update pgboss.job set state = 'created', started_on = null where name = $1 and id = $2 and state = 'active'`,
        [queueName, jobId],
      );
    },
    async release(jobId) {
      await boss.fail(queueName, jobId);
    },
    async count() {
      const { rows } = await pool.query<{ due: number; later: number }>(
        `select count(*) filter (where start_after < now()) as due,
           count(*) filter (where start_after >= now()) as later
         from (select start_after from pgboss.job where name = $1 and ${isOpen} limit ${mostCounted}) as open`,
        [queueName],
      );
      return rows[0] ?? { due: 0, later: 0 };
    },
    close,
  };
}

/** When the next attempt of each pending delivery is due, by its ID. A time in the past: as soon as a worker is free. */
export async function findNextAttempts(
  db: Db,
  pending: readonly (Lane & { id: string; round: number })[],
): Promise<Map<string, Date>> {
  // Without deliveries the queue may not have its tables yet.
  if (pending.length === 0) return new Map();
  const { rows } = await db.executeQuery<{ id: string; at: Date }>(
    CompiledQuery.raw(
      `select data ->> 'deliveryId' as id, min(start_after) as at from pgboss.job
       join unnest($3::text[], $4::integer[]) as wanted (id, round)
         on data ->> 'deliveryId' = wanted.id and (data ->> 'round')::integer = wanted.round
       where name = $1 and state <= 'active' and singleton_key = any($2::text[])
       group by 1`,
      [
        queueName,
        [...new Set(pending.map(keyOf))],
        pending.map(({ id }) => id),
        pending.map(({ round }) => round),
      ],
    ),
  );
  return new Map(rows.map(({ id, at }) => [id, at]));
}
