// Deliveries to real receivers on loopback. An independent library checks the signatures.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WriteDeps } from '../../../server/handlers/deps.ts';
import { handlers } from '../../../server/handlers/index.ts';
import type { Handler } from '../../../server/kit/contract/handler-types.ts';
import { rotateSubscription } from '../../../server/kit/events/subscriptions/changes.ts';
import { defaultLimits } from '../../../server/kit/events/worker.ts';
import { card } from '../../support/card.ts';
import { startReceiver, type Got } from '../../support/receiver.ts';
import { silentWork } from '../../support/records.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import {
  hasty,
  patient,
  settled,
  storeCard,
  subscribe,
  unsubscribe,
  until,
  verify,
} from '../../support/webhooks.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ webhooks: hasty });
});
afterAll(() => service[Symbol.asyncDispose]());

describe('a delivery', () => {
  it('arrives signed, with the whole resource, and basic authentication when set', async () => {
    await using receiver = await startReceiver();
    const subscription = await subscribe(service, receiver.url, {
      authentication: { kind: 'basic', username: 'shop', password: 'päss' },
    });
    const id = await storeCard(service);
    await receiver.received(1);
    const got = receiver.got[0] as Got;
    const event = verify(subscription.secret, got);
    expect(event).toMatchObject({
      type: 'event',
      name: 'payment-method.created',
      merchant_account_id: 'default',
      target: { id },
    });
    expect(got.headers['webhook-id']).toBe(event.id);
    expect(got.headers.authorization).toBe(`Basic ${Buffer.from('shop:päss').toString('base64')}`);
    expect(got.headers['user-agent']).toMatch(/^payments-service/);
    expect(got.headers['content-type']).toBe('application/json');
    expect(() => verify(`whsec_${Buffer.alloc(24).toString('base64')}`, got)).toThrow();
    expect((await settled(service, subscription)).state).toBe('succeeded');
    await unsubscribe(service, subscription);
  });

  it('goes to active subscriptions of the account and to those for all accounts, and to no other', async () => {
    await using receiver = await startReceiver();
    const at = (path: string) => receiver.url.replace('hook', path);
    const subscriptions = [
      await subscribe(service, at('mine')),
      await subscribe(service, at('all'), { account: '*' }),
      await subscribe(service, at('other'), { account: 'marketplace' }),
      await subscribe(service, at('inactive'), { active: false }),
    ];
    await storeCard(service);
    await receiver.received(2);
    await storeCard(service, 'marketplace');
    await receiver.received(4);
    expect(receiver.got.map(({ path }) => path).sort()).toEqual(['/all', '/all', '/mine', '/other']);
    for (const subscription of subscriptions) await unsubscribe(service, subscription);
  });

  it.each<[string, Parameters<typeof startReceiver>[0], { state: string; attempts: number }]>([
    [
      '500, then success',
      (res, _got, nth) => res.writeHead(nth === 1 ? 500 : 204).end(),
      { state: 'succeeded', attempts: 2 },
    ],
    ['only failure', (res) => res.writeHead(500).end(), { state: 'failed', attempts: 4 }],
    [
      'a redirect, which is not followed',
      (res) => res.writeHead(302, { Location: '/elsewhere' }).end(),
      { state: 'failed', attempts: 4 },
    ],
    [
      '503 with Retry-After, then success',
      (res, _got, nth) => res.writeHead(nth === 1 ? 503 : 200, { 'Retry-After': '30' }).end(),
      { state: 'succeeded', attempts: 2 },
    ],
    [
      '410, which switches the subscription off',
      (res) => res.writeHead(410).end(),
      { state: 'failed', attempts: 1 },
    ],
  ])('%s', async (_name, answer, expected) => {
    await using receiver = await startReceiver(answer);
    const subscription = await subscribe(service, receiver.url);
    await storeCard(service);
    expect(await settled(service, subscription)).toMatchObject(expected);
    expect(receiver.got).toHaveLength(expected.attempts);
    expect(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(receiver.got.map(({ path }) => path))).toEqual(new Set(['/hook']));
    const { db } = service.service.database;
    const row = await db
      .selectFrom('webhook_subscriptions')
      .select('active')
      .where('id', '=', subscription.id)
      .executeTakeFirst();
    expect(row?.active).toBe(receiver.got.length !== 1 || expected.state === 'succeeded');
    await unsubscribe(service, subscription);
  });

  it('what a receiver says with an error is kept with the attempt, and a success is not read', async () => {
    const said = 'Order\u0000 42\nof 4111 1111 1111 1111: "password": "hunter2"';
    await using receiver = await startReceiver((res, _got, nth) =>
      res.writeHead(nth === 1 ? 422 : 200).end(nth === 1 ? said : 'thanks'),
    );
    const subscription = await subscribe(service, receiver.url);
    await storeCard(service);
    const { id } = await settled(service, subscription);
    const attempts = await service.service.database.db
      .selectFrom('delivery_attempts')
      .select(['status', 'error', 'answer'])
      .where('delivery_id', '=', id)
      .orderBy('number')
      .execute();
    expect(attempts).toEqual([
      {
        status: 422,
        error: null,
        answer: 'Order\\u0000 42\\nof [number]: "password": "[redacted]"',
      },
      { status: 200, error: null, answer: null },
    ]);
    await unsubscribe(service, subscription);
  });

  it('a subscription that only failed for five days is switched off, and this is logged', async () => {
    await using receiver = await startReceiver((res) => res.writeHead(500).end());
    const subscription = await subscribe(service, receiver.url);
    const { db } = service.service.database;
    await sql`update webhook_subscriptions set failing_since = now() - interval '5 days 1 minute' where id = ${subscription.id}`.execute(
      db,
    );
    await storeCard(service);
    await until(
      async () =>
        (
          await db
            .selectFrom('webhook_subscriptions')
            .select('active')
            .where('id', '=', subscription.id)
            .executeTakeFirst()
        )?.active === false,
    );
    expect(service.logs.join('')).toMatch(/switched off/);
    expect(receiver.got).toHaveLength(1);
    await unsubscribe(service, subscription);
  });

  it('during a rotation both secrets sign, and `rotating` is true', async () => {
    await using receiver = await startReceiver();
    const subscription = await subscribe(service, receiver.url);
    const { db } = service.service.database;
    const { vault } = service.secrets;
    const rotated = await silentWork(db, (unit) => rotateSubscription(unit, subscription.id, 60_000, vault));
    const fresh = rotated?.kind === 'rotated' ? rotated.secret : '';
    await storeCard(service);
    await receiver.received(1);
    for (const secret of [subscription.secret, fresh]) verify(secret, receiver.got[0]);
    const listed = async () => {
      const { body } = await service.call('GET', '/webhook-subscriptions?limit=100', {
        token: service.token('*.read', '*.write'),
      });
      return (body as { items: { id: string; rotating: boolean; secret: string }[] }).items.find(
        ({ id }) => id === subscription.id,
      );
    };
    expect(await listed()).toMatchObject({ rotating: true, secret: fresh });
    await sql`update webhook_subscriptions set old_secret_until = now() where id = ${subscription.id}`.execute(
      db,
    );
    expect(await listed()).toMatchObject({ rotating: false });
    await storeCard(service);
    await receiver.received(2);
    expect(() => verify(subscription.secret, receiver.got[1])).toThrow();
    await unsubscribe(service, subscription);
  });
});

describe('the outbox', () => {
  type Store = Handler<'createPaymentMethod', WriteDeps>;
  const inAnswer: Store = (input, deps) =>
    handlers.createPaymentMethod(input, {
      ...deps,
      inUnitOfWork: (work) =>
        deps.inUnitOfWork(async (unit) => {
          const made = await work(unit);
          return { ...made, body: { ...(made.body as object), leaked: true } };
        }),
    });
  const inEvent: Store = (input, deps) =>
    handlers.createPaymentMethod(input, {
      ...deps,
      inUnitOfWork: (work) =>
        deps.inUnitOfWork((unit) => {
          const { publish } = unit;
          return work({
            ...unit,
            publish:
              publish && ((name, account, target) => publish(name, account, { ...target, leaked: true })),
          });
        }),
    });

  it.each([
    ['answer', inAnswer],
    ['event', inEvent],
  ])(
    'a change whose %s breaks the contract is rolled back, sends nothing and leaves nothing',
    async (_what, leak) => {
      await using receiver = await startReceiver();
      await using other = await startTestService({
        webhooks: hasty,
        handlers: { ...handlers, createPaymentMethod: leak },
      });
      await subscribe(other, receiver.url);
      const { status } = await other.call('POST', '/payment-methods', {
        token: other.token('*.write'),
        body: { ...card, external_identifier: 'leaked' },
      });
      expect(status).toBe(500);
      const { db } = other.service.database;
      const methods = db.selectFrom('payment_methods').select('id');
      expect(await methods.where('external_identifier', '=', 'leaked').execute()).toEqual([]);
      expect(await db.selectFrom('events').select('id').execute()).toEqual([]);
      expect(await db.selectFrom('deliveries').select('id').execute()).toEqual([]);
      expect(receiver.got).toEqual([]);
    },
  );
});

describe('receivers that hang', { timeout: 180_000 }, () => {
  // They soon have as many attempts under way as their account may have, so the others wait until these run out of time.
  const webhooks = { ...patient, options: { ...patient.options, milliseconds: 2_000 } };

  it('20 subscriptions, 10 of which never answer: all events of the other 10 arrive while the 10 still hang', async () => {
    const held: { end: () => unknown }[] = [];
    await using hanging = await startReceiver((res) => void held.push(res));
    await using good = await startReceiver();
    await using other = await startTestService({ webhooks });
    for (let index = 0; index < 10; index += 1) {
      await subscribe(other, hanging.url);
      await subscribe(other, good.url);
    }
    const events = 20;
    for (let made = 0; made < events; made += 1) await storeCard(other);
    await good.received(10 * events);
    const answered = held.filter((res) => (res as { writableEnded?: boolean }).writableEnded);
    expect(answered).toEqual([]);
    expect(held.length).toBeGreaterThan(0);
    for (const res of held) res.end();
    await hanging[Symbol.asyncDispose]();
  });
});

describe('a receiver that fails', () => {
  it('gets one attempt at a time, and everything once it has recovered', async () => {
    const { perSubscription } = defaultLimits;
    const failures = perSubscription + 4;
    const atOnce: number[] = [];
    let open = 0;
    await using receiver = await startReceiver((res, _got, nth) => {
      open += 1;
      // The first ones may be sent before the first of them has failed.
      if (nth > perSubscription && nth <= failures) atOnce.push(open);
      // Answers late, so that concurrent attempts are noticed.
      setTimeout(() => {
        open -= 1;
        res.writeHead(nth <= failures ? 500 : 204).end();
      }, 20);
    });
    await using other = await startTestService({ webhooks: { ...patient, schedule: () => 0.05 } });
    await subscribe(other, receiver.url);
    for (let made = 0; made < 20; made += 1) await storeCard(other);
    const left = other.service.database.db
      .selectFrom('deliveries')
      .select('id')
      .where('state', '<>', 'succeeded');
    await until(async () => (await left.execute()).length === 0);
    expect(atOnce).toEqual([1, 1, 1, 1]);
    expect(receiver.got).toHaveLength(20 + failures);
    expect(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size).toBe(20);
  });
});

describe('a subscription whose secret cannot be opened', () => {
  it('fails by the retry schedule like one that does not answer, and says why', async () => {
    await using receiver = await startReceiver();
    await using other = await startTestService({ webhooks: hasty });
    const subscription = await subscribe(other, receiver.url);
    const { db } = other.service.database;
    await db.updateTable('webhook_subscriptions').set({ secret_sealed: 'deadbeef.AAAA' }).execute();
    await storeCard(other);
    expect(await settled(other, subscription)).toMatchObject({ state: 'failed', attempts: 4 });
    const attempts = await db.selectFrom('delivery_attempts').select(['status', 'error']).execute();
    const why = { status: null, error: 'the secrets of the subscription cannot be opened' };
    expect(attempts).toEqual([why, why, why, why]);
    expect(receiver.got).toEqual([]);
    expect(other.logs.join('')).toContain('cannot be opened; see: payments doctor');
  });
});
