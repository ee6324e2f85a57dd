// What a backlog of one receiver costs: its deliveries wait in the database, and are fetched when there is room for them.
import type { ServerResponse } from 'node:http';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultLimits, startWorker, type Worker } from '../../../server/events/worker.ts';
import { startReceiver } from '../../support/receiver.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import {
  causeDeliveries,
  patient,
  storeCard,
  subscribe,
  until,
  type Subscription,
} from '../../support/webhooks.ts';

let service: TestService;
let worker: Worker | undefined;

beforeEach(async () => {
  service = await startTestService({ config: { webhookWorker: false } });
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await service[Symbol.asyncDispose]();
});

function start(): void {
  worker = startWorker({
    ...patient,
    db: service.service.database.background.db,
    isSharded: service.service.database.isSharded,
    vault: service.secrets.vault,
    log: pino({ level: 'silent' }),
    now: () => new Date(),
    schedule: () => 3_600,
  });
}

const cause = (subscription: Subscription, number: number) => causeDeliveries(service, subscription, number);

const stateCounts = async ({ id }: Subscription) => {
  const { rows } = await sql<{ state: string; number: number }>`
    select state, count(*)::integer as number from deliveries where subscription_id = ${id} group by 1`.execute(
    service.service.database.db,
  );
  return Object.fromEntries(rows.map(({ state, number }) => [state, number]));
};

const backlog = 5_000;
const events = 5;
const receivers: [does: string, answer: (res: ServerResponse) => void][] = [
  ['hangs', () => undefined],
  ['fails', (res) => void res.writeHead(500).end()],
];

describe.each(receivers)('a receiver that %s, with a backlog', { timeout: 180_000 }, (_, answer) => {
  it('does not delay another account, and holds no more than its few places', async () => {
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
    const { rows } = await sql<{ held: number }>`
      select count(*) as held from deliveries where leased_by is not null`.execute(
      service.service.database.db,
    );
    expect(rows[0]?.held).toBeLessThanOrEqual(defaultLimits.perSubscription + 1);
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
  });
});
