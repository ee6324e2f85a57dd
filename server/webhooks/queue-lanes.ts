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
