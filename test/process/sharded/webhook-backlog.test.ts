// What a backlog of one receiver costs: its deliveries wait in the database, and are fetched when there is room for them.
import type { ServerResponse } from 'node:http';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openQueue, type Job, type Queue } from '../../../server/webhooks/queue.ts';
import { defaultLimits, startWorker, type Worker } from '../../../server/webhooks/worker.ts';
import { startReceiver } from '../../support/receiver.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import {
  causeDeliveries,
  patient,
  storeCard,
  subscribe,
  unsubscribe,
  until,
  type Subscription,
} from '../../support/webhooks.ts';

let service: TestService;
let queue: Queue;
let worker: Worker | undefined;
/** How many jobs the worker was given. */
let fetched: number;

beforeEach(async () => {
  fetched = 0;
  service = await startTestService({ config: { webhookWorker: false } });
  queue = await openQueue(service.service.database.background.pool, () => undefined, { supervise: false });
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await queue.close();
  await service[Symbol.asyncDispose]();
});

/** The real worker on the real queue, with the jobs counted. */
function start(): void {
  const count = async (fetching: Promise<Job[]>) => {
    const jobs = await fetching;
    fetched += jobs.length;
    return jobs;
  };
  worker = startWorker({
    ...patient,
    db: service.service.database.background.db,
    queue: { ...queue, fetch: (wanted) => count(queue.fetch(wanted)) },
    vault: service.secrets.vault,
    log: pino({ level: 'silent' }),
    now: () => new Date(),
    schedule: () => 3_600,
  });
}

const cause = (subscription: Subscription, number: number) =>
  causeDeliveries(service, queue, subscription, number);

const stateCounts = async ({ id }: Subscription) => {
  const { rows } = await sql<{ state: string; number: number }>`
    select state, count(*)::integer as number from deliveries where subscription_id = ${id} group by 1`.execute(
    service.service.database.db,
  );
  return Object.fromEntries(rows.map(({ state, number }) => [state, number]));
};

const backlog = 5_000;
const events = 5;
const { heldAtFirst, heldFailing } = defaultLimits;
/** The first attempts may begin before one of them has failed. */
const receivers: [does: string, answer: (res: ServerResponse) => void, waiting: number][] = [
  ['hangs', () => undefined, heldAtFirst],
  ['fails', (res) => void res.writeHead(500).end(), heldAtFirst + heldFailing],
];

describe.each(receivers)('a receiver that %s, with a backlog', { timeout: 180_000 }, (_, answer, waiting) => {
  it('does not delay another account, and what there is no room for is not fetched', async () => {
    await using bad = await startReceiver(answer);
    await using good = await startReceiver();
    await cause(await subscribe(service, bad.url), backlog);
    await subscribe(service, good.url, { account: 'marketplace' });
    start();
    await bad.received(1);
    for (let stored = 1; stored <= events; stored += 1) {
      await storeCard(service, 'marketplace');
      await good.received(stored);
    }
    expect(bad.got.length).toBeLessThan(backlog / 2);
    expect(fetched).toBeLessThanOrEqual(events + bad.got.length + waiting);
    await bad[Symbol.asyncDispose]();
  });
});

describe('the backlog of a subscription', () => {
  it('that is switched off ends without an attempt to send it', async () => {
    await using receiver = await startReceiver();
    const subscription = await subscribe(service, receiver.url);
    await cause(subscription, 100);
    await sql`update webhook_subscriptions set active = false, failing_since = now()`.execute(
      service.service.database.db,
    );
    start();
    await until(async () => (await stateCounts(subscription)).failed === 100);
    expect(receiver.got).toEqual([]);
    expect(fetched).toBe(100);
  });

  it('that was deleted leaves no job', async () => {
    const subscription = await subscribe(service, 'http://127.0.0.1:9/');
    await cause(subscription, 100);
    await unsubscribe(service, subscription);
    start();
    const { pool } = service.service.database;
    await until(async () => {
      const open = `select from pgboss.job where name = 'webhook-deliveries' and state <= 'active'`;
      return (await pool.query(open)).rowCount === 0;
    });
  });
});
