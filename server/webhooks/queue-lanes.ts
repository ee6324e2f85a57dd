// Lanes of the delivery queue: each subscription and account waits by itself, so that a backlog of one delays no other.
import type { Pool } from '../store/database.ts';

export const queueName = 'webhook-deliveries';

/** For whom a delivery is: a subscription, and the account of the event. Jobs are fetched by it. */
export interface Lane {
  subscription_id: string;
  merchant_account_id: string;
}

/** Of a job that no worker has fetched. */
export const isOpen = `state < 'active'`;
const noSubscription = '00000000-0000-0000-0000-000000000000';
const assignedAtOnce = 5_000;

// The lane of a job is its `singleton_key`, which pg-boss itself uses only for queues with another policy than ours.
export const keyOf = ({ subscription_id, merchant_account_id }: Lane): string =>
  `${subscription_id}/${merchant_account_id}`;
export const laneOf = (key: string): Lane => {
  const end = key.indexOf('/');
  return { subscription_id: key.slice(0, end), merchant_account_id: key.slice(end + 1) };
};

export async function createLaneIndex(pool: Pool): Promise<void> {
  // `create index if not exists` waits for all transactions that write, even if the index exists.
  const { rows } = await pool.query<{ exists: boolean }>(
    `select to_regclass('pgboss.job_lanes') is not null as exists`,
  );
  if (rows[0]?.exists) return;
  await pool.query(`create index job_lanes on pgboss.job (singleton_key, start_after) where ${isOpen}`);
}

/** Jobs that an older version added have no lane. While it still runs beside this one, it adds more. */
export async function assignLanes(pool: Pool): Promise<void> {
  // In batches, because one statement for a large backlog exceeds the statement timeout, and the service could not start.
  while ((await assignSome(pool)) === assignedAtOnce);
}

/** Not one statement, because a sharded engine cannot join the deliveries of all accounts with a table of the coordinator. */
async function assignSome(pool: Pool): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    // Locked jobs are skipped: they are being fetched, or another process assigns them.
    const { rows: jobs } = await client.query<{ id: string; deliveryId: string }>(
      `select id, data ->> 'deliveryId' as "deliveryId" from pgboss.job
       where name = $1 and ${isOpen} and singleton_key is null limit $2 for update skip locked`,
      [queueName, assignedAtOnce],
    );
    if (jobs.length > 0) {
      const { rows: deliveries } = await client.query<Lane & { id: string }>(
        `select id, subscription_id, merchant_account_id from deliveries where id = any($1::uuid[])
         /* across accounts: lane-of-job */`,
        [jobs.map(({ deliveryId }) => deliveryId)],
      );
      const lanes = new Map(deliveries.map((delivery) => [delivery.id, keyOf(delivery)]));
      await client.query(
        `update pgboss.job set singleton_key = wanted.key from unnest($2::uuid[], $3::text[]) as wanted (id, key)
         where name = $1 and job.id = wanted.id`,
        [
          queueName,
          jobs.map(({ id }) => id),
          jobs.map(({ deliveryId }) => lanes.get(deliveryId) ?? `${noSubscription}/`),
        ],
      );
    }
    await client.query('commit');
    client.release();
    return jobs.length;
  } catch (error) {
    // Closes the connection, which ends the transaction.
    client.release(true);
    throw error;
  }
}
