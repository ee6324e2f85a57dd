// `updated_at` never goes back: of two transactions that change a record, the one that began first may commit last.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deactivateKeyPair, recordKeyPairUse } from '../../server/kit/access/key-pairs/changes.ts';
import { inWork, type Work } from '../../server/kit/database/unit-of-work.ts';
import { rotateSubscription, switchSubscription } from '../../server/kit/events/subscriptions/changes.ts';
import { movePaymentMethod } from '../../server/resources/payment-methods/changes.ts';
import { moveTransaction } from '../../server/resources/transactions/changes.ts';
import { card } from '../support/card.ts';
import { createTransactions, silentWork } from '../support/records.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { transaction } from '../support/transactions.ts';
import { subscribe } from '../support/webhooks.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ config: { webhookWorker: false } });
});
afterAll(() => service[Symbol.asyncDispose]());

const db = () => service.service.database.db;
type Table = 'api_key_pairs' | 'payment_methods' | 'transactions' | 'webhook_subscriptions';
const updatedAt = async (table: Table, id: string) => {
  const row = await db()
    .selectFrom(table)
    .select('updated_at')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return row.updated_at.getTime();
};

/** The transaction of the second change begins after that of the first one, and ends before it. */
async function expectOrder(
  table: Table,
  id: string,
  first: (unit: Work) => Promise<unknown>,
  second: (unit: Work) => Promise<unknown>,
): Promise<void> {
  let between = 0;
  await inWork(db(), async (early) => {
    // The times of the two differ.
    await sql`select pg_sleep(0.005)`.execute(early.db);
    await inWork(db(), async (late) => {
      expect(late.now.getTime()).toBeGreaterThan(early.now.getTime());
      await second(late);
    });
    between = await updatedAt(table, id);
    await first(early);
  });
  expect(await updatedAt(table, id)).toBeGreaterThanOrEqual(between);
}

const silent = (unit: Work) => ({ ...unit, publicUrl: '', publish: undefined });

it('of a card', async () => {
  const body = { ...card, number: '5105105105105100' };
  const answer = await service.call('POST', '/payment-methods', { token: service.token('*.write'), body });
  const { id, status } = answer.body as { id: string; status: string };
  expect(status).toBe('buyer_approval_required');
  await expectOrder(
    'payment_methods',
    id,
    (unit) => movePaymentMethod(silent(unit), id, 'succeeded'),
    (unit) => movePaymentMethod(silent(unit), id, 'processing'),
  );
});

it('of a transaction', async () => {
  const made = transaction({ status: 'processing' });
  await createTransactions(db(), [made]);
  await expectOrder(
    'transactions',
    made.id,
    (unit) => moveTransaction(silent(unit), made.id, 'authorization_succeeded', undefined),
    (unit) => moveTransaction(silent(unit), made.id, 'buyer_approval_pending', undefined),
  );
});

it('of a webhook subscription', async () => {
  const { id } = await subscribe(service, 'http://127.0.0.1:9/');
  await expectOrder(
    'webhook_subscriptions',
    id,
    (unit) => switchSubscription(unit, id, true),
    (unit) => switchSubscription(unit, id, false),
  );
  await expectOrder(
    'webhook_subscriptions',
    id,
    (unit) => rotateSubscription(unit, id, 0, service.secrets.vault),
    (unit) => switchSubscription(unit, id, false),
  );
});

it('last_used_at of a key pair moves at most once a minute', async () => {
  const { id } = await service.pair();
  const read = async () => {
    const row = await db()
      .selectFrom('api_key_pairs')
      .select('last_used_at')
      .where('id', '=', id)
      .executeTakeFirst();
    return row?.last_used_at?.getTime();
  };
  const age = (seconds: number) =>
    sql`update api_key_pairs set last_used_at = now() - make_interval(secs => ${seconds}) where id = ${id}`.execute(
      db(),
    );
  await recordKeyPairUse(db(), id);
  expect(await read()).toBeGreaterThan(0);
  await age(30);
  const before = await read();
  await recordKeyPairUse(db(), id);
  expect(await read()).toBe(before);
  await age(61);
  const long = await read();
  await recordKeyPairUse(db(), id);
  expect(await read()).toBeGreaterThan((long ?? 0) + 60_000);
});

it('of a key pair', async () => {
  const { id } = await service.pair();
  await expectOrder(
    'api_key_pairs',
    id,
    (unit) => deactivateKeyPair(unit, id),
    (unit) =>
      unit.db.updateTable('api_key_pairs').set({ updated_at: unit.now }).where('id', '=', id).execute(),
  );
  await silentWork(db(), (unit) => deactivateKeyPair(unit, id));
});
