// Deliveries do not wait for anything that they do not need: not for the next poll, and not for the record of another one.
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createUnitOfWork } from '../../server/actions/unit-of-work.ts';
import { findDeliveries } from '../../server/store/events.ts';
import { createLimit } from '../../server/webhooks/limit.ts';
import { openQueue, type Queue } from '../../server/webhooks/queue.ts';
import { createRecord } from '../../server/webhooks/record.ts';
import { defaultLimits, startWorker, type Worker } from '../../server/webhooks/worker.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import {
  causeDeliveries,
  patient,
  storeCard,
  subscribe,
  until,
  type Subscription,
} from '../support/webhooks.ts';

const hour = 3_600_000;
/** After the first fetch, only what wakes the worker makes it fetch again. */
const neverPolls = { ...defaultLimits, pollMilliseconds: hour, busyMilliseconds: hour };
const { heldAtFirst, perSubscription } = defaultLimits;

it('an event is delivered without waiting for the next poll', async () => {
  await using service = await startTestService({ webhooks: { ...patient, limits: neverPolls } });
  await using receiver = await startReceiver();
  await subscribe(service, receiver.url);
  for (let stored = 1; stored <= 3; stored += 1) {
    await storeCard(service);
    await receiver.received(stored);
  }
});

describe('a worker', () => {
  let service: TestService;
  let queue: Queue;
  let worker: Worker | undefined;
  const background = () => service.service.database.background;
  const log = pino({ level: 'silent' });

  beforeEach(async () => {
    service = await startTestService({ config: { webhookWorker: false } });
    queue = await openQueue(background().pool, () => undefined, { supervise: false });
  });
  afterEach(async () => {
    await worker?.stop();
    worker = undefined;
    await queue.close();
    await service[Symbol.asyncDispose]();
  });

  const start = (limits = neverPolls) => {
    const { db } = background();
    const { vault } = service.secrets;
    worker = startWorker({ ...patient, db, queue, vault, log, now: () => new Date() }, limits);
  };
  const cause = (subscription: Subscription, number: number) =>
    causeDeliveries(service, queue, subscription, number);
  /** Nothing can be recorded until `unlock`. */
  const lockDeliveries = async () => {
    let unlock: () => void = () => undefined;
    const unlocked = new Promise<void>((done) => (unlock = done));
    await new Promise<void>((locked, fail) => {
      service.service.database.db
        .transaction()
        .execute(async (tx) => {
          await sql`select from deliveries for update`.execute(tx);
          locked();
          await unlocked;
        })
        .catch(fail);
    });
    return unlock;
  };
  const states = async () => {
    const { rows } = await sql<{ state: string; attempts: number; number: number }>`
      select state, attempts, count(*)::integer as number from deliveries group by 1, 2 order by 1, 2`.execute(
      background().db,
    );
    return rows;
  };
  const succeeded = (number: number) =>
    until(async () => (await states()).some((one) => one.state === 'succeeded' && one.number === number));

  it('fetches the rest of a backlog as soon as there is room', async () => {
    await using receiver = await startReceiver();
    await cause(await subscribe(service, receiver.url), 150);
    start();
    await receiver.received(150);
    await succeeded(150);
    expect(await states()).toEqual([{ state: 'succeeded', attempts: 1, number: 150 }]);
    expect(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size).toBe(150);
  });

  it('sends on while attempts are recorded, as far as there are places, and records those together', async () => {
    await using receiver = await startReceiver();
    await cause(await subscribe(service, receiver.url), heldAtFirst);
    const unlock = await lockDeliveries();
    start();
    await receiver.received(heldAtFirst);
    expect(heldAtFirst).toBeGreaterThan(perSubscription);
    unlock();
    await succeeded(heldAtFirst);
    const { rows } = await sql<{ transactions: number; attempts: number }>`
      select count(distinct xmin::text)::integer as transactions, count(*)::integer as attempts
      from delivery_attempts`.execute(background().db);
    expect(rows).toEqual([{ transactions: 2, attempts: heldAtFirst }]);
  });

  it('records the others if one attempt cannot be stored, and repeats that one', async () => {
    const refused = 299;
    await sql`alter table delivery_attempts add constraint refused check (status <> 299)`.execute(
      background().db,
    );
    await using receiver = await startReceiver((res, _, nth) =>
      res.writeHead(nth === heldAtFirst - 1 ? refused : 204).end(),
    );
    await cause(await subscribe(service, receiver.url), heldAtFirst);
    const unlock = await lockDeliveries();
    start(defaultLimits);
    await receiver.received(heldAtFirst);
    unlock();
    await succeeded(heldAtFirst);
    expect(await states()).toEqual([{ state: 'succeeded', attempts: 1, number: heldAtFirst }]);
    // Only that one came twice.
    expect(receiver.got).toHaveLength(heldAtFirst + 1);
  });

  it('completes the job of a delivery that was deleted during its attempt, and records the others', async () => {
    const subscription = await subscribe(service, 'http://127.0.0.1:9/');
    await cause(subscription, 3);
    const { record, results } = await attempted(subscription, 3);
    await sql`delete from deliveries where id = ${results[1]?.id}`.execute(background().db);
    await Promise.all(results.map(record));
    expect(await states()).toEqual([{ state: 'succeeded', attempts: 1, number: 2 }]);
    expect(await openJobs()).toBe(0);
  });

  it('records two attempts at the same delivery one after the other', async () => {
    const subscription = await subscribe(service, 'http://127.0.0.1:9/');
    await cause(subscription, 2);
    const { record, results } = await attempted(subscription, 2);
    const again = results.slice(1).map((result) => ({
      ...result,
      attempt: { ...result.attempt, at: new Date(result.attempt.at.getTime() + 1) },
    }));
    // The first one begins a transaction, and the others wait for it.
    await Promise.all([...results, ...again].map(record));
    const { rows } = await sql<{ numbers: number[] }>`
      select array_agg(number order by number) as numbers from delivery_attempts
      group by delivery_id order by 1`.execute(background().db);
    expect(rows).toEqual([{ numbers: [1] }, { numbers: [1, 2] }]);
  });

  it('keeps the failure that comes after a success, and forgets the one that came before', async () => {
    const failing = () =>
      service.service.database.db
        .selectFrom('webhook_subscriptions')
        .select('failing_since')
        .executeTakeFirstOrThrow();
    const subscription = await subscribe(service, 'http://127.0.0.1:9/');
    await cause(subscription, 6);
    const { record, results } = await attempted(subscription, 6);
    const [first, ...rest] = results as [(typeof results)[0], ...typeof results];
    const at = (days: number) => new Date(Date.UTC(2026, 0, days));
    const with_ = (one: typeof first, outcome: 'succeeded' | 'failed', days: number) => ({
      ...one,
      ...{ outcome, attempt: { ...one.attempt, at: at(days) } },
    });
    const [a, b, c, d] = rest as [typeof first, typeof first, typeof first, typeof first];
    // The first is recorded alone, the others together.
    await Promise.all([
      record(first),
      record(with_(a, 'failed', 1)),
      record(with_(b, 'succeeded', 2)),
      record(with_(c, 'failed', 3)),
      record(with_(d, 'failed', 4)),
    ]);
    expect(await failing()).toEqual({ failing_since: at(3) });
    await record(with_(rest[4] as typeof first, 'succeeded', 5));
    expect(await failing()).toEqual({ failing_since: null });
  });

  const openJobs = async () =>
    (
      await background().pool.query(
        `select from pgboss.job where name = 'webhook-deliveries' and state <= 'active'`,
      )
    ).rowCount;

  /** Fetches jobs, and pretends that their receiver has answered. */
  const attempted = async ({ id }: Subscription, limit: number) => {
    const { db } = background();
    const jobs = await queue.fetch([{ subscription_id: id, merchant_account_id: 'default', limit }]);
    const found = new Map((await findDeliveries(db, jobs)).map((delivery) => [delivery.id, delivery]));
    const results = jobs.map((job) => {
      const delivery = found.get(job.deliveryId);
      if (!delivery) throw new Error('There is no such delivery.');
      return {
        ...{ ...delivery, job, state: 'succeeded' as const, outcome: 'succeeded' as const, wait: undefined },
        attempt: { at: new Date(), status: 204, milliseconds: 1, error: null },
      };
    });
    return { results, record: createRecord({ db, queue, log, limit: createLimit(4) }) };
  };
});

it('a unit of work tells after its commit that it has published something, and only then', async () => {
  await using service = await startTestService({ config: { webhookWorker: false } });
  const { db } = service.service.database;
  const events: string[] = [];
  let deliveries = 1;
  const inUnitOfWork = createUnitOfWork({
    db,
    outbox: async (tx) => {
      await sql`insert into settings (name, value) values ('published', 'yes')`.execute(tx);
      return { id: 'one', deliveries };
    },
    publicUrl: () => '',
    now: () => new Date(),
    onPublished: () => events.push('told'),
  });
  const publish = (fails: boolean) =>
    inUnitOfWork(async (unit) => {
      await unit.publish?.('payment-method.created', 'default', {} as never);
      events.push('published');
      if (fails) throw new Error('no');
    });
  await expect(publish(true)).rejects.toThrow('no');
  expect(events).toEqual(['published']);
  await publish(false);
  expect(events).toEqual(['published', 'published', 'told']);
  await sql`delete from settings where name = 'published'`.execute(db);
  deliveries = 0;
  await publish(false);
  expect(events).toEqual(['published', 'published', 'told', 'published']);
});
