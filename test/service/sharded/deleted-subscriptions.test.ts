// A subscription is deleted with its deliveries, while events happen and workers record attempts.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { inTransaction, inTransactionOnce, type Tx } from '../../../server/kit/database/database.ts';
import type { InStep } from '../../../server/kit/database/unit-of-work.ts';
import { recordAttempts } from '../../../server/kit/events/attempts.ts';
import { countQueue, leaseDeliveries } from '../../../server/kit/events/deliveries.ts';
import { insertEvent } from '../../../server/kit/events/outbox.ts';
import { deleteSubscription } from '../../../server/kit/events/subscriptions/changes.ts';
import { paymentsHere } from '../../support/in-process.ts';
import { inStepOf } from '../../support/records.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { causeDeliveries, storeCard, subscribe, until } from '../../support/webhooks.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ config: { webhookWorker: false } });
});
afterAll(() => service[Symbol.asyncDispose]());

const db = () => service.service.database.background.db;
const make = () => subscribe(service, 'http://127.0.0.1:9/');
const { isCitus } = inject('cluster');

const payments = (...args: string[]) =>
  paymentsHere(args, { DATABASE_URL: service.config.databaseUrl, DATA_DIR: service.config.dataDir });

const countOf = async (table: string) => {
  const { rows } = await sql<{ number: number }>`
    select count(*) as number from ${sql.table(table)}`.execute(db());
  return rows[0]?.number;
};

/** An event of a transaction that stays open until `commit` is called. */
async function happening() {
  let commit: () => void = () => undefined;
  const committing = new Promise<void>((resolve) => (commit = resolve));
  let stored: () => void = () => undefined;
  const isStored = new Promise<void>((resolve) => (stored = resolve));
  const done = inTransaction(db(), async (tx: Tx, now) => {
    const event = { id: randomUUID(), name: 'payment-method.created', body: '{}', created_at: now };
    await insertEvent(tx, { ...event, merchant_account_id: 'default' });
    stored();
    await committing;
  });
  await isStored;
  return () => {
    commit();
    return done;
  };
}

it('what a transaction stores for it that began before is never counted as waiting', async () => {
  const { id } = await make();
  const commit = await happening();
  const { status, stdout } = await payments('webhooks', 'delete', id, '--yes');
  expect([status, JSON.parse(stdout)]).toEqual([0, { id, deleted: true }]);
  await commit();
  expect(await countQueue(db())).toEqual({ due: 0, later: 0 });
  await sql`delete from deliveries`.execute(db());
});

it('while cards are stored, and it has more deliveries than are deleted at once, none is left', async () => {
  const subscription = await make();
  await causeDeliveries(service, subscription, 1_500);
  await causeDeliveries(service, subscription, 3, 'marketplace');
  let isDeleted = false;
  const stores = async () => {
    while (!isDeleted) await storeCard(service);
  };
  const storing = [stores(), stores(), stores()];
  const { status } = await payments('webhooks', 'delete', subscription.id, '--yes');
  isDeleted = true;
  await Promise.all(storing);
  expect(status).toBe(0);
  // Only a transaction that had seen it switched on, and ended after the last look, leaves one behind: one of the three at most.
  expect(await countOf('deliveries')).toBeLessThanOrEqual(3);
  await sql`delete from deliveries`.execute(db());
  const { stdout } = await payments('audit', '--search', subscription.id, '--json');
  expect((JSON.parse(stdout) as { items: unknown[] }).items).toHaveLength(1);
});

it('it looks again for what was stored until it was gone', async () => {
  const { id } = await make();
  const commit = await happening();
  await deleteSubscription(async (work) => {
    const done = await inStepOf(db())(work);
    if ((await countOf('webhook_subscriptions')) === 0) await commit();
    return done;
  }, id);
  expect(await countOf('deliveries')).toBe(0);
});

it('an ID that there is not, is told apart', async () => {
  expect(await deleteSubscription(inStepOf(db()), randomUUID())).toBeUndefined();
});

// Citus asks its servers for the locks.
it.skipIf(isCitus)('it and a worker that records a failure do not wait for each other', async () => {
  const subscription = await make();
  await causeDeliveries(service, subscription, 1);
  const worker = randomUUID();
  const limits = { worker, perSubscription: 4, perAccount: 100, held: new Map<string, number>(), most: 10 };
  const [delivery] = await inTransaction(db(), (tx) => leaseDeliveries(tx, limits));
  if (!delivery) throw new Error('nothing was leased');
  let tries = 0;
  let steps = 0;
  const inStep: InStep = (work) => {
    steps += 1;
    return inStepOf(db())((unit) => {
      tries += 1;
      return work(unit);
    });
  };
  const isWaiting = async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      service.service.database.db,
    );
    return rows.length > 0;
  };
  let deleting: ReturnType<typeof deleteSubscription> | undefined;
  await inTransactionOnce(db(), async (tx, now) => {
    await sql`
      select from deliveries where merchant_account_id = 'default' and id = ${delivery.id}
      for no key update`.execute(tx);
    deleting = deleteSubscription(inStep, subscription.id);
    await until(isWaiting);
    const failed = { at: now, status: 500, wait: 3600, milliseconds: 1, state: 'pending' as const };
    const more = { error: null, answer: null, traceId: undefined };
    await recordAttempts(tx, now, worker, [{ delivery, ...failed, ...more }]);
  });
  expect(await deleting).toEqual({ kind: 'deleted' });
  // PostgreSQL ends a deadlock by rolling one of the two back, which is then tried again.
  expect(tries).toBe(steps);
  expect([await countOf('deliveries'), await countOf('delivery_attempts')]).toEqual([0, 0]);
});
