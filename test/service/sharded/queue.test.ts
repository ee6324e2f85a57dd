// Changes to the delivery queue are rolled back with the transaction.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { inTransaction, openDatabase, type Database } from '../../../server/store/database.ts';
import { createLanes } from '../../../server/webhooks/lanes.ts';
import { createTurns } from '../../../server/webhooks/turns.ts';
import { createPlaces } from '../../../server/webhooks/places.ts';
import { queueName, type Lane } from '../../../server/webhooks/queue-lanes.ts';
import { openQueue } from '../../../server/webhooks/queue.ts';
import { defaultLimits } from '../../../server/webhooks/worker.ts';
import { createTestDatabase } from '../../support/database.ts';

it('adds and completes inside of the transaction that it is given', async () => {
  const database = openDatabase(await createTestDatabase(), (error) => {
    throw error;
  });
  const queue = await openQueue(database.pool, () => undefined, { supervise: false });
  const { db } = database;
  const undone = new Error('undone');
  const states = async () => {
    const { rows } = await database.pool.query<{ state: string; output: unknown }>(
      `select state, output from pgboss.job where name = 'webhook-deliveries' order by created_on`,
    );
    return rows.map(({ state }) => state);
  };
  const lane = { subscription_id: '00000000-0000-4000-8000-000000000001', merchant_account_id: 'default' };
  const job = { deliveryId: '00000000-0000-4000-8000-000000000000', round: 3 };
  const due = { ...job, ...lane };

  const added = db.transaction().execute(async (transaction) => {
    await queue.add(transaction, [due]);
    throw undone;
  });
  await expect(added).rejects.toBe(undone);
  expect(await states()).toEqual([]);

  await db.transaction().execute((transaction) => queue.add(transaction, [due, due]));
  const fetched = await queue.fetch([{ ...lane, limit: 10 }]);
  expect(fetched).toMatchObject([job, job]);
  const ids = fetched.map(({ id }) => id);
  const completed = db.transaction().execute(async (transaction) => {
    await queue.complete(transaction, ids);
    // Other connections do not see it yet.
    expect(await states()).toEqual(['active', 'active']);
    throw undone;
  });
  await expect(completed).rejects.toBe(undone);
  expect(await states()).toEqual(['active', 'active']);
  await db.transaction().execute((transaction) => queue.complete(transaction, ids));
  expect(await states()).toEqual(['completed', 'completed']);
  await queue.close();
  await database.close();
});

it('is created once by several processes that start at the same time on an empty database', async () => {
  const url = await createTestDatabase();
  const databases = Array.from({ length: 6 }, () =>
    openDatabase(url, (error) => {
      throw error;
    }),
  );
  const open = ({ pool }: Database) => openQueue(pool, () => undefined, { supervise: false });
  // Repeated, because the starts collide only sometimes.
  for (let round = 0; round < 12; round += 1) {
    // The template has the queue already.
    await databases[0]?.pool.query('drop schema pgboss cascade');
    const queues = await Promise.allSettled(databases.map(open));
    for (const queue of queues) if (queue.status === 'fulfilled') await queue.value.close();
    expect(queues.filter(({ status }) => status === 'rejected')).toEqual([]);
  }
  for (const database of databases) await database.close();
});

/** A database with jobs in so many lanes. */
async function withJobs(lanes: number, { afterSeconds = 0 } = {}) {
  const database = openDatabase(await createTestDatabase(), () => undefined, {
    statementMilliseconds: 2_000,
  });
  const { db, pool } = database;
  const queue = await openQueue(pool, () => undefined, { supervise: false });
  const due = Array.from({ length: lanes }, () => ({
    ...{ subscription_id: randomUUID(), merchant_account_id: 'default' },
    ...{ deliveryId: randomUUID(), round: 1, afterSeconds },
  }));
  await inTransaction(db, (tx) => queue.add(tx, due));
  const close = async () => {
    await queue.close();
    await database.close();
  };
  return { db, pool, queue, due, [Symbol.asyncDispose]: close };
}

it('lists no lane while no job is due, so that lanes which wait for a retry cost nothing', async () => {
  await using jobs = await withJobs(500, { afterSeconds: 3_600 });
  const { db, pool, queue, due } = jobs;
  const fetch = () => createLanes({ db, queue }, createPlaces(defaultLimits), createTurns(db)).fetch(100);
  expect(await fetch()).toEqual({ jobs: [], hasMore: false, isBusy: false, backlogs: new Set() });
  await pool.query(
    `update pgboss.job set start_after = now() - interval '1 second' where name = $1 and data ->> 'deliveryId' = $2`,
    [queueName, due[0]?.deliveryId],
  );
  const all = [];
  let after: Lane | undefined;
  do {
    const page = await queue.lanes(after, 200);
    all.push(...page);
    after = page.at(-1);
  } while (after);
  expect(all).toHaveLength(500);
  expect(all.filter(({ isDue }) => isDue)).toHaveLength(1);
});
