// Partitions by time: docs/decisions/0019-partitions-by-time.md.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  deleteOldEvents,
  deleteOldIdempotencyKeys,
  preparePartitions,
} from '../../server/actions/housekeeping.ts';
import { deleteSubscription } from '../../server/actions/webhook-subscriptions.ts';
import { inTransaction, openDatabase, type Database, type Tx } from '../../server/store/database.ts';
import { listDeliveries } from '../../server/store/delivery-list.ts';
import { findDeliveries, insertEvent, recordAttempts } from '../../server/store/events.ts';
import { listPartitions, makePartitions } from '../../server/store/partitions.ts';
import { answers, eventTables } from '../../server/store/tables/partitioned.ts';
import { insertWebhookSubscription } from '../../server/store/webhook-subscriptions.ts';
import { createTestDatabase } from '../support/database.ts';
import { paymentsHere } from '../support/in-process.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { silentWork } from '../support/records.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { card, hasty, settled, storeCard, subscribe, until } from '../support/webhooks.ts';

vi.setConfig({ testTimeout: 120_000 });

const day = 86_400_000;
const week = 7 * day;
const { events, deliveries, attempts } = eventTables;
const tables = [events, deliveries, attempts];

describe('a service', () => {
  let service: TestService;
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
    // Its database has no partitions yet, unlike the copies that other tests use.
    service = await startTestService({ webhooks: hasty, firstStart: true });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  });
  const db = () => service.service.database.db;

  it('makes partitions for the next weeks when it starts', async () => {
    const end = Date.now() + 3 * week;
    for (const table of tables)
      await until(async () => (await listPartitions(db(), table)).some(({ to }) => to.getTime() > end));
    for (const table of tables) {
      const found = await listPartitions(db(), table);
      // Without gaps, beginning with the table of before.
      expect(found.map(({ from }) => from).slice(1)).toEqual(found.map(({ to }) => to).slice(0, -1));
      expect(found[0]?.name).toBe(`${table.table}_before`);
      for (const { from } of found.slice(1)) expect(from.getUTCDay()).toBe(1);
    }
    await until(async () => (await listPartitions(db(), answers)).length === 4);
    const [today] = await listPartitions(db(), answers);
    expect(today).toMatchObject({ to: new Date((Math.floor(Date.now() / day) + 1) * day) });
  });

  /** In which partition each row of a subscription is. */
  const placesOf = async (subscription: { id: string }) => {
    const { rows } = await sql<{ event: string; delivery: string; attempt: string; id: string }>`
      select events.tableoid::regclass as event, deliveries.tableoid::regclass as delivery,
        attempt.tableoid::regclass as attempt, events.id
      from deliveries join events on events.id = event_id
      join delivery_attempts as attempt on delivery_id = deliveries.id
      where subscription_id = ${subscription.id} order by events.created_at, number`.execute(db());
    return rows;
  };

  it('delivers events that have no partition, and later finds them in the one that is made', async () => {
    const subscription = await subscribe(service, receiver.url);
    for (const { table } of tables) await sql`drop table ${sql.table(`${table}_before`)}`.execute(db());
    await storeCard(service);
    await settled(service, subscription);
    const before = await placesOf(subscription);
    const inDefault = {
      event: 'events_default',
      delivery: 'deliveries_default',
      attempt: 'delivery_attempts_default',
    };
    expect(before).toEqual([expect.objectContaining(inDefault)]);

    await preparePartitions(db(), new Date(), 30);
    const after = await placesOf(subscription);
    expect(after).toEqual([
      {
        event: expect.stringMatching(/^events_\d{8}$/) as string,
        delivery: expect.stringMatching(/^deliveries_\d{8}$/) as string,
        attempt: expect.stringMatching(/^delivery_attempts_\d{8}$/) as string,
        id: before[0]?.id,
      },
    ]);
    expect(await preparePartitions(db(), new Date(), 30)).toBe(0);

    // An operator finds and replays it there.
    const run = (...args: string[]) =>
      paymentsHere(['webhooks', ...args], {
        DATABASE_URL: service.config.databaseUrl,
        DATA_DIR: service.config.dataDir,
      });
    const listed = await run('deliveries', '--event', before[0]?.id ?? '', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject({
      items: [{ event: before[0]?.id, state: 'succeeded', attempt: 1 }],
    });
    expect((await run('replay', before[0]?.id ?? '')).stdout).toContain('"replayed": 1');
    await until(async () => (await placesOf(subscription)).length === 2);
  });

  it('looks for a job, and for an event that an operator names, in one partition', async () => {
    const { merchant_account_id, created_at, id, event_id } = await db()
      .selectFrom('deliveries')
      .selectAll()
      .executeTakeFirstOrThrow();
    /** How many partitions PostgreSQL planned for. */
    const planned = (work: (tx: Tx) => Promise<unknown[]>) =>
      inTransaction(db(), async (tx) => {
        expect(await work(tx)).not.toEqual([]);
        const { rows } = await sql`
          select from pg_locks join pg_inherits on inhrelid = relation and inhparent = 'deliveries'::regclass
          where pid = pg_backend_pid()`.execute(tx);
        return rows.length;
      });
    const job = { deliveryId: id, merchant_account_id };
    expect(await planned((tx) => findDeliveries(tx, [{ ...job, createdAt: created_at }]))).toBe(1);
    expect(await planned((tx) => listDeliveries(tx, { eventId: event_id, limit: 1 }))).toBe(1);
    // Of a version before 1.3.
    expect(await planned((tx) => findDeliveries(tx, [job]))).toBeGreaterThan(3);
  });

  it('repeats answers of two partitions, and drops them with their keys', async () => {
    await makePartitions(db(), answers, { now: new Date(Date.now() - day), days: 1 });
    const send = async (key: string) => {
      const headers = { 'Idempotency-Key': key };
      const token = service.token('*.write');
      const answer = await service.call('POST', '/payment-methods', { token, body: card, headers });
      return { id: (answer.body as { id: string }).id, replayed: answer.headers.get('idempotency-replayed') };
    };
    const [older, newer] = [randomUUID(), randomUUID()];
    const first = await send(older);
    // The end of yesterday, which is less than 24 hours ago at any time of the day.
    for (const table of ['idempotency_keys', 'idempotency_answers'])
      await sql`
        update ${sql.table(table)} set created_at = date_trunc('day', created_at, 'UTC') - interval '1 ms'`.execute(
        db(),
      );
    const second = await send(newer);
    const { rows } = await sql`select distinct tableoid from idempotency_answers`.execute(db());
    expect(rows).toHaveLength(2);
    expect(await send(older)).toEqual({ id: first.id, replayed: 'true' });
    expect(await send(newer)).toEqual({ id: second.id, replayed: 'true' });

    const parts = async () => (await listPartitions(db(), answers)).map(({ name }) => name);
    const count = (await parts()).length;
    await deleteOldIdempotencyKeys(db(), new Date(Math.floor(Date.now() / day) * day));
    expect(await parts()).toHaveLength(count - 1);
    expect((await send(older)).replayed).toBe('false');
    expect(await send(newer)).toEqual({ id: second.id, replayed: 'true' });
  });
});

describe('retention', () => {
  let database: Database;
  beforeAll(async () => {
    database = openDatabase(await createTestDatabase('furnished'), () => undefined);
  });
  afterAll(() => database.close());
  const db = () => database.db;
  const makeSubscription = async () => {
    const subscription = { merchant_account_id: 'default', active: true, url: 'http://127.0.0.1:9/' };
    const values = { ...subscription, username: null, password_sealed: null, secret_sealed: '' };
    return (await inTransaction(db(), (tx) => insertWebhookSubscription(tx, values))).id;
  };

  const make = async (
    created_at: Date,
    state: 'pending' | 'succeeded' | 'failed',
    attempted = created_at,
  ) => {
    const id = randomUUID();
    const account = { merchant_account_id: 'default' };
    await inTransaction(db(), async (tx) => {
      const due = await insertEvent(tx, {
        ...account,
        id,
        name: 'transaction.created',
        body: '{}',
        created_at,
      });
      for (const { deliveryId } of due)
        await recordAttempts(tx, account.merchant_account_id, [
          {
            ...{ created_at, id: deliveryId, attempts: 0, round: 0, state },
            attempt: { at: attempted, status: 200, milliseconds: 1, error: null },
          },
        ]);
    });
    return id;
  };
  const count = async () => {
    const { rows } = await sql<{ counts: number[] }>`
      select array[(select count(*)::integer from events), (select count(*)::integer from deliveries),
        (select count(*)::integer from delivery_attempts)] as counts`.execute(db());
    return rows[0]?.counts;
  };
  const rangesOf = async (table: (typeof tables)[number]) =>
    (await listPartitions(db(), table)).filter(({ name }) => !name.endsWith('_before'));

  it('drops partitions, except those with a pending delivery, and deletes by row what is in none', async () => {
    const subscription = await makeSubscription();
    const start = Math.ceil((Date.now() + 5 * week - 4 * day) / week) * week + 4 * day;
    const at = (weeks: number) => new Date(start + weeks * week);
    await preparePartitions(db(), at(0), 30);
    const made = (await rangesOf(events)).filter(({ from }) => from >= at(0)).length;
    expect(made).toBe(4);
    // Two weeks that are over; the first has a delivery that is pending, with an attempt in the second.
    await make(at(0.1), 'succeeded');
    const waiting = await make(at(0.2), 'pending', at(1.2));
    await make(at(1.1), 'failed');
    await make(at(2.1), 'succeeded');
    // In no partition: before the first one, and after the last one.
    await make(at(-0.5), 'succeeded');
    const far = await make(at(9), 'succeeded');
    expect(await count()).toEqual([6, 6, 6]);

    await deleteOldEvents(db(), at(2));
    const left = async () =>
      (await db().selectFrom('events').select('id').orderBy('created_at').execute()).map(({ id }) => id);
    expect((await left()).length).toBe(4);
    expect(await left()).toContain(waiting);
    const names = async () =>
      (await Promise.all(tables.map(rangesOf))).map(
        (found) => found.filter(({ from }) => from >= at(0)).length,
      );
    // The week of the pending delivery is kept, with all attempts since.
    expect(await names()).toEqual([made - 1, made - 1, made]);

    await sql`update deliveries set state = 'failed' where event_id = ${waiting}`.execute(db());
    await deleteOldEvents(db(), at(2));
    expect(await names()).toEqual([made - 2, made - 2, made - 2]);
    expect(await count()).toEqual([2, 2, 2]);

    await deleteOldEvents(db(), at(10));
    expect(await count()).toEqual([0, 0, 0]);
    expect(await left()).not.toContain(far);
    await silentWork(db(), (unit) => deleteSubscription(unit, subscription));
  });

  it('does not keep what is pending for a subscription that an older version has deleted', async () => {
    const subscription = await makeSubscription();
    await make(new Date(Date.now() - 40 * day), 'pending');
    await sql`delete from webhook_subscriptions where id = ${subscription}`.execute(db());
    await deleteOldEvents(db(), new Date(Date.now() - 30 * day));
    expect(await count()).toEqual([0, 0, 0]);
  });

  it('deletes the deliveries and attempts of a subscription with it', async () => {
    const [one, other] = [await makeSubscription(), await makeSubscription()];
    await make(new Date(), 'succeeded');
    expect(await count()).toEqual([1, 2, 2]);
    await silentWork(db(), (unit) => deleteSubscription(unit, one));
    expect(await count()).toEqual([1, 1, 1]);
    await silentWork(db(), (unit) => deleteSubscription(unit, other));
    expect(await count()).toEqual([1, 0, 0]);
    await sql`delete from events`.execute(db());
  });

  it('while a partition cannot be dropped because somebody reads, others write', async () => {
    const start = new Date(Date.now() + 20 * week);
    await preparePartitions(db(), start, 30);
    const [first] = (await listPartitions(db(), events)).filter(
      ({ from }) => from >= new Date(start.getTime() - week),
    );
    await make(first?.from ?? start, 'succeeded');
    let dropping: Promise<number> | undefined;
    await inTransaction(db(), async (tx) => {
      await sql`select from events limit 1`.execute(tx);
      dropping = deleteOldEvents(db(), first?.to ?? start);
      await until(async () => {
        const { rows } = await sql`
          select from pg_locks where relation = 'events'::regclass and not granted`.execute(db());
        return rows.length > 0;
      });
      await make(new Date(start.getTime() + 2 * week), 'succeeded');
    });
    expect(await dropping).toBeGreaterThan(0);
    expect((await listPartitions(db(), events)).map(({ name }) => name)).not.toContain(first?.name);
    expect((await count())?.[0]).toBe(1);
  });

  it('leaves a crowd in the default partition, and begins the partition later', async () => {
    const start = new Date(Date.UTC(2040, 0, 2));
    const at = (hours: number) => new Date(start.getTime() + hours * 3_600_000);
    for (const hours of [1, 2, 3.5]) await make(at(hours), 'succeeded');
    await makePartitions(db(), events, { now: at(4), days: 7, most: 2 });
    const [found] = (await listPartitions(db(), events)).filter(({ from }) => from >= start);
    expect(found).toMatchObject({ name: 'events_20400102_05', from: at(5), to: at(7 * 24) });
    for (const hours of [4.5, 5.5]) await make(at(hours), 'succeeded');
    const { rows } = await sql`
      select tableoid::regclass::text as place, count(*) as total from events
      where created_at >= ${start} group by 1 order by 1`.execute(db());
    expect(rows).toEqual([
      { place: 'events_20400102_05', total: 1 },
      { place: 'events_default', total: 4 },
    ]);
    // Weeks change to days and back when the retention does.
    expect(await makePartitions(db(), events, { now: at(30 * 24), days: 1 })).toBeGreaterThan(0);
    expect(await makePartitions(db(), events, { now: at(30 * 24), days: 7 })).toBeGreaterThan(0);
    const all = await listPartitions(db(), events);
    for (const [index, { from }] of all.slice(1).entries())
      expect(from.getTime()).toBeGreaterThanOrEqual(all[index]?.to.getTime() ?? 0);
  });
});
