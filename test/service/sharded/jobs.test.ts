// The daily jobs. Time passes as rows get older.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  inTransaction,
  openDatabase,
  type Database,
  type Db,
} from '../../../server/kit/database/database.ts';
import { createUnitOfWork, withLock } from '../../../server/kit/database/unit-of-work.ts';
import { insertEvent } from '../../../server/kit/events/outbox.ts';
import { createSubscription, deleteSubscription } from '../../../server/kit/events/subscriptions/changes.ts';
import { insertWebhookSubscription } from '../../../server/kit/events/subscriptions/queries.ts';
import { startJobs, deleteExpired } from '../../../server/kit/maintenance/jobs.ts';
import type { DatabaseTime } from '../../../server/kit/rules/database-time.ts';
import { facts } from '../../../server/resources/facts.ts';
import { findPaymentMethodOfAnyAccount } from '../../../server/resources/payment-methods/any-account.ts';
import { cards } from '../../../server/sandbox/sample-records.ts';
import { createTestDatabase, openTestDatabase } from '../../support/database.ts';
import { startLossyDatabase } from '../../support/lost-commit.ts';
import {
  createPaymentMethod,
  expireCard,
  inStepOf,
  recordReplacement,
  silentWork,
  writingAnything,
} from '../../support/records.ts';
import { startTestService } from '../../support/service.ts';

const [{ id } = { id: '' }] = cards;

it('applies pending replacements of expired cards, at start-up and then periodically', async () => {
  await using service = await startTestService({ jobMilliseconds: 50 });
  const { db } = service.service.database;
  const { secrets } = service;
  await expireCard(db, id, 'this');
  await recordReplacement({ db, secrets }, id);
  const runs = () => service.logs.filter((line) => line.includes('"expired-cards"')).length;
  const before = runs();
  await vi.waitUntil(() => runs() > before + 2, { timeout: 60_000 });
  expect(await findPaymentMethodOfAnyAccount(db, id)).toMatchObject({ has_replacement: true, label: '1111' });

  await expireCard(db, id, 'last');
  await vi.waitUntil(() => service.logs.some((line) => /"job":"expired-cards","done":1/.test(line)), {
    timeout: 60_000,
  });
  // A job that found nothing to do is no news.
  const levelOf = (done: number) => {
    const line = service.logs.find((one) => one.includes(`"done":${done},`)) ?? '{}';
    return (JSON.parse(line) as { level?: number }).level;
  };
  expect([levelOf(0), levelOf(1)]).toEqual([pino.levels.values.debug, pino.levels.values.info]);
  const replaced = await findPaymentMethodOfAnyAccount(db, id);
  expect(replaced).toMatchObject({
    has_replacement: false,
    replacement: null,
    label: '4444',
    expiration_date: '12/44',
  });
  expect(replaced?.last_replaced_at).toEqual(replaced?.updated_at);

  // The next start runs the job at once.
  await recordReplacement({ db, secrets }, id, { number: '4242424242424242' });
  const { databaseUrl, secrets: keys } = service.config;
  await service.service.close();
  const database = openTestDatabase(databaseUrl ?? '');
  await expireCard(database.db, id, 'last');
  await database.close();
  await using second = await startTestService({ config: { databaseUrl, secrets: keys } });
  await vi.waitUntil(() => second.logs.some((line) => /"job":"expired-cards","done":1/.test(line)), {
    timeout: 60_000,
  });
  expect(await findPaymentMethodOfAnyAccount(second.service.database.db, id)).toMatchObject({
    label: '4242',
  });
});

it('does not touch cards that have not expired, changes those of an account together, and only in one instance', async () => {
  await using service = await startTestService({ jobMilliseconds: 50 });
  const { db, background } = service.service.database;
  const { secrets } = service;
  const [first, second, later] = [
    (await createPaymentMethod({ db, secrets })).id,
    (await createPaymentMethod({ db, secrets })).id,
    (await createPaymentMethod({ db, secrets })).id,
  ];
  const read = async () => {
    const { rows } = await sql<{ id: string; waits: boolean; change: string }>`
      select id, has_replacement as waits, xmin::text as change from payment_methods
      where merchant_account_id = 'default' and id = any(${[first, second, later]}::uuid[])`.execute(db);
    const of = (wanted: string) => rows.find((row) => row.id === wanted);
    return [of(first), of(second), of(later)] as const;
  };
  await inTransaction(background.db, async (tx) => {
    const asAnother = () =>
      withLock(db, 'daily jobs', async () => {
        for (const card of [first, second, later]) {
          await expireCard(db, card, card === later ? 'this' : 'last');
          await recordReplacement({ db, secrets }, card, { number: '4012888888881881' });
        }
        await sql`
          select from payment_methods where merchant_account_id = 'default' and id = ${later} for update`.execute(
          tx,
        );
        const seen = service.logs.length;
        const isLeft = () => service.logs.slice(seen).some((line) => line.includes('another instance runs'));
        await vi.waitUntil(isLeft, { timeout: 60_000 });
        expect((await read()).map((card) => card?.waits)).toEqual([true, true, true]);
      });
    await vi.waitUntil(asAnother, { timeout: 60_000 });
    await vi.waitUntil(async () => (await read())[0]?.waits === false, { timeout: 60_000 });
    const [one, other, kept] = await read();
    expect([other?.waits, kept?.waits]).toEqual([false, true]);
    expect(one?.change).toBe(other?.change);
  });
});

it('a replacement whose event breaks the contract is logged with its ID and tried again, and stops no other', async () => {
  await using service = await startTestService({ jobMilliseconds: 50 });
  const { db } = service.service.database;
  const { secrets } = service;
  const rows = await db
    .selectFrom('payment_methods')
    .select('id')
    .where('status', '=', 'succeeded')
    .execute();
  const [broken = '', ...others] = rows.map((row) => row.id);
  const ids = [broken, ...others];
  // Of the job's next run, which finds all of them.
  await vi.waitUntil(
    () =>
      withLock(db, 'daily jobs', async () => {
        for (const card of ids) {
          await recordReplacement({ db, secrets }, card, { number: '4012888888881881' });
          await expireCard(db, card, 'last');
        }
        await sql`
          update payment_methods set expiration_date = '12/20', country = 'no country'
          where merchant_account_id = 'default' and id = ${broken}`.execute(db);
      }),
    { timeout: 60_000 },
  );
  const waiting = async () => {
    const found = await db
      .selectFrom('payment_methods')
      .select('id')
      .where('has_replacement', '=', true)
      .execute();
    return found.map((card) => card.id);
  };
  await vi.waitUntil(async () => (await waiting()).length === 1, { timeout: 60_000 });
  expect(await waiting()).toEqual([broken]);
  const told = () =>
    service.logs.flatMap((line) =>
      line.includes('"job":"expired-cards"') && line.includes(broken) ? [line] : [],
    );
  await vi.waitUntil(() => told().length >= 2, { timeout: 60_000 });
  expect(JSON.parse(told()[0] ?? '{}')).toMatchObject({
    level: pino.levels.values.error,
    payment_method_id: broken,
    err: { message: expect.stringContaining('breaks the contract') as string },
  });
  await writingAnything(db)
    .updateTable('payment_methods')
    .set({ country: null })
    .where('id', '=', broken)
    .execute();
  await vi.waitUntil(async () => (await waiting()).length === 0, { timeout: 60_000 });
});

it('deletes old events without pending deliveries, expired rate limit counters, idempotency keys and card numbers', async () => {
  const now = new Date();
  const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);
  // No worker, so that pending deliveries stay pending.
  const config = { webhookWorker: false };
  await using service = await startTestService({ config, jobMilliseconds: 50 });
  const { db } = service.service.database;
  const wanted = {
    merchant_account_id: 'default',
    active: true,
    url: 'http://127.0.0.1:9/',
    authentication: null,
  };
  const made = await silentWork(db, (unit) => createSubscription(unit, wanted, service.secrets.vault));
  if (made.kind === 'tooMany') throw new Error(made.reason);
  const { row: subscription } = made;
  const make = async (created_at: Date, state: 'pending' | 'succeeded' | 'failed') => {
    const id = randomUUID();
    const event = { id, name: 'transaction.created', merchant_account_id: 'default', body: '{}', created_at };
    const attempt = { at: created_at, status: 200, milliseconds: 1, error: null, answer: null };
    await inTransaction(db, async (tx) => {
      await insertEvent(tx, { ...event, created_at: created_at as DatabaseTime });
      const { rows } = await sql<{ id: string }>`
        update deliveries set state = ${state}, attempts = 1 where event_id = ${id} returning id`.execute(tx);
      await tx
        .insertInto('delivery_attempts')
        .values({ merchant_account_id: 'default', delivery_id: rows[0]?.id ?? '', number: 1, ...attempt })
        .execute();
    });
    return id;
  };
  const kept = [
    await make(daysAgo(29.9), 'succeeded'),
    await make(daysAgo(40), 'pending'),
    await make(daysAgo(0), 'failed'),
  ];
  await make(daysAgo(30.1), 'succeeded');
  await make(daysAgo(300), 'failed');
  await sql`insert into rate_limits values ('over', 1, ${now.getTime() - 60_001}), ('still', 1, ${now.getTime() + 60_000})`.execute(
    db,
  );
  await sql`
    insert into idempotency_keys (merchant_account_id, slot, fingerprint, claim, claimed_until, created_at) values
      ('default', 'over', '', gen_random_uuid(), now(), ${daysAgo(1.05)}),
      ('*', 'over', '', gen_random_uuid(), now(), ${daysAgo(1.05)}),
      ('default', 'still', '', gen_random_uuid(), now(), ${daysAgo(1.01)})`.execute(db);
  await sql`insert into number_buckets values ('over', '{}', ${daysAgo(1.05)}), ('still', '{}', ${daysAgo(1.01)})`.execute(
    db,
  );
  await sql`insert into card_numbers values ('b', 'over', ${daysAgo(1)}), ('b', 'still', ${daysAgo(0.9)})`.execute(
    db,
  );
  const ids = async () => (await db.selectFrom('events').select('id').execute()).map(({ id }) => id).sort();
  await vi.waitUntil(async () => (await ids()).length === 3, { timeout: 60_000, interval: 50 });
  const limits = () => sql<{ key: string }>`select key from rate_limits`.execute(db);
  await vi.waitUntil(async () => (await limits()).rows.length === 1, { timeout: 60_000, interval: 50 });
  const keys = () => db.selectFrom('idempotency_keys').select('slot').execute();
  await vi.waitUntil(async () => (await keys()).length === 1, { timeout: 60_000, interval: 50 });
  expect(await keys()).toEqual([{ slot: 'still' }]);
  const numbers = () => db.selectFrom('card_numbers').select('number').execute();
  await vi.waitUntil(async () => (await numbers()).length === 1, { timeout: 60_000, interval: 50 });
  expect(await numbers()).toEqual([{ number: 'still' }]);
  const buckets = () => db.selectFrom('number_buckets').select('bucket').execute();
  await vi.waitUntil(async () => (await buckets()).length === 1, { timeout: 60_000, interval: 50 });
  expect(await buckets()).toEqual([{ bucket: 'still' }]);
  expect(await ids()).toEqual(kept.sort());
  expect((await limits()).rows).toEqual([{ key: 'still' }]);
  const left = await db
    .selectFrom('deliveries')
    .innerJoin('delivery_attempts as attempt', (join) =>
      join
        .onRef('attempt.merchant_account_id', '=', 'deliveries.merchant_account_id')
        .onRef('delivery_id', '=', 'deliveries.id'),
    )
    .select('event_id')
    .where('subscription_id', '=', subscription.id)
    .execute();
  expect(left.map(({ event_id }) => event_id).sort()).toEqual(kept);
});

describe('retention', () => {
  // A statement for each table, because Citus plans no insert into several of them.
  const make = async (db: Db, subscription: string | null, state: string, number: number) => {
    const rows = Array.from({ length: number }, (_, index) => ({
      event: randomUUID(),
      delivery: randomUUID(),
      subscription: subscription ?? randomUUID(),
      at: new Date(Date.now() - 40 * 86_400_000 + index * 1000),
    }));
    const inserted = sql`json_to_recordset(${JSON.stringify(rows)}::json)
      as made (event uuid, delivery uuid, subscription uuid, at timestamptz)`;
    await sql`
      insert into events (id, name, merchant_account_id, body, created_at)
      select event, 'transaction.created', 'default', '{}', at from ${inserted}`.execute(db);
    await sql`
      insert into deliveries (merchant_account_id, id, created_at, event_id, subscription_id, state)
      select 'default', delivery, at, event, subscription, ${state}::text from ${inserted}`.execute(db);
    await sql`
      insert into delivery_attempts (merchant_account_id, delivery_id, number, at, milliseconds)
      select 'default', delivery, 1, at, 1 from ${inserted}`.execute(db);
  };
  const count = async (db: Db) => {
    const countOf = async (table: 'events' | 'deliveries' | 'delivery_attempts') => {
      const { rows } = await sql<{
        rows: number;
      }>`select count(*)::integer as rows from ${sql.table(table)}`.execute(db);
      return rows[0]?.rows;
    };
    return [await countOf('events'), await countOf('deliveries'), await countOf('delivery_attempts')];
  };
  const before = () => new Date(Date.now() - 30 * 86_400_000) as DatabaseTime;

  const oldEvents = { name: 'events', ...facts.events };
  let database: Database & { url: string };
  beforeEach(async () => {
    const url = await createTestDatabase('furnished');
    database = { ...openTestDatabase(url), url };
  });
  afterEach(() => database.close());

  it('deletes more than a batch of events, with their deliveries and attempts, and nothing that is still delivered', async () => {
    const { db } = database;
    const values = { merchant_account_id: 'default', active: true, url: 'http://127.0.0.1:9/' };
    const { id } = await inTransaction(db, (tx) =>
      insertWebhookSubscription(tx, { ...values, username: null, password_sealed: null, secret_sealed: '' }),
    );
    await make(db, id, 'failed', 700);
    await make(db, id, 'pending', 3);
    await make(db, id, 'succeeded', 700);
    // Of a subscription that was deleted meanwhile.
    await make(db, null, 'pending', 2);
    expect(await deleteExpired(db, oldEvents, { before: before() })).toBe(1_402);
    expect(await count(db)).toEqual([3, 3, 3]);
    await deleteSubscription(inStepOf(db), id);
    expect(await count(db)).toEqual([3, 0, 0]);
    expect(await deleteExpired(db, oldEvents, { before: before() })).toBe(3);
  });

  it('sends a few statements for 3,000 accounts of which two have something to delete', async () => {
    const { db } = database;
    await sql`
      insert into merchant_accounts (id, display_name)
      select 'account ' || number, 'An account' from generate_series(1, 3000) as number`.execute(db);
    await make(db, null, 'failed', 1);
    const event = { name: 'transaction.created', merchant_account_id: 'account 7', body: '{}' };
    await db
      .insertInto('events')
      .values({ ...event, id: randomUUID(), created_at: before() })
      .execute();
    await sql`
      insert into idempotency_keys (merchant_account_id, slot, fingerprint, claim, claimed_until, created_at)
      values ('*', 'over', '', gen_random_uuid(), now(), now() - interval '40 days')`.execute(db);
    await using counter = await startLossyDatabase(database.url);
    const counted = openTestDatabase(counter.url);
    const trips = async (table: 'events' | 'idempotency_keys', expected: number) => {
      await sql`select 1`.execute(counted.db);
      const begun = counter.trips();
      expect(await deleteExpired(counted.db, { name: table, ...facts[table] }, { before: before() })).toBe(
        expected,
      );
      return counter.trips() - begun;
    };
    // One to find the accounts, then begin, the statements of a batch, and commit.
    expect(await trips('events', 2)).toBeLessThanOrEqual(1 + 2 * 5);
    expect(await trips('idempotency_keys', 1)).toBeLessThanOrEqual(1 + 3);
    expect([await trips('events', 0), await trips('idempotency_keys', 0)]).toEqual([1, 1]);
    await counted.close();
  });

  it('leaves a row that somebody has locked to the next run, and everything when the service stops', async () => {
    const { db } = database;
    await make(db, null, 'failed', 2);
    await inTransaction(db, async (tx) => {
      await sql`select from events where merchant_account_id = 'default' limit 1 for update`.execute(tx);
      expect(await deleteExpired(db, oldEvents, { before: before(), isStopping: () => true })).toBe(0);
      expect(await deleteExpired(db, oldEvents, { before: before() })).toBe(1);
    });
    expect(await deleteExpired(db, oldEvents, { before: before() })).toBe(1);
    expect(await count(db)).toEqual([0, 0, 0]);
  });
});

it('keeps events and audit entries for as long as the configuration says', async () => {
  const now = new Date();
  const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);
  await using service = await startTestService({
    config: { eventRetentionDays: 2, auditRetentionDays: 100 },
    jobMilliseconds: 50,
  });
  const { db } = service.service.database;
  const entry = (days: number) => ({ at: daysAgo(days), operator: 'o', host: 'h', command: `${days} days` });
  await db.insertInto('audit_entries').values([99, 101, 400].map(entry)).execute();
  const event = { name: 'transaction.created', merchant_account_id: 'default', body: '{}' };
  const events = [1.9, 2.1].map((days) => ({ ...event, id: randomUUID(), created_at: daysAgo(days) }));
  await db.insertInto('events').values(events).execute();
  const left = async () => [
    (await db.selectFrom('audit_entries').select('command').execute()).map(({ command }) => command),
    (await db.selectFrom('events').select('id').execute()).map(({ id }) => id),
  ];
  await vi.waitUntil(async () => (await left()).every(({ length }) => length === 1), { timeout: 60_000 });
  expect(await left()).toEqual([['99 days'], [events[0]?.id]]);
});

it('the database keeps what operators did in the last 90 days, whatever it is told', async () => {
  await using service = await startTestService({ jobMilliseconds: 3_600_000 });
  const { db } = service.service.database;
  const at = (days: number) => new Date(Date.now() - days * 86_400_000);
  await db
    .insertInto('audit_entries')
    .values([89, 91].map((days) => ({ at: at(days), operator: 'o', host: 'h', command: `${days} days` })))
    .execute();
  const remove = (before: Date) =>
    deleteExpired(db, { name: 'audit_entries', ...facts.audit_entries }, { before: before as DatabaseTime });
  await expect(remove(new Date())).rejects.toThrow('audit entries cannot be changed');
  expect(await remove(at(90))).toBe(1);
});

it('continues after the database was down, and logs the failure', async () => {
  const away = openDatabase('postgres://nobody@127.0.0.1:1/none', () => undefined);
  const logs: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void logs.push(line) });
  const { db } = away;
  const outbox = () => Promise.resolve({ id: '', deliveries: 0 });
  const inUnitOfWork = createUnitOfWork({ outbox, publicUrl: () => '' })(db);
  const jobs = startJobs({
    db,
    inUnitOfWork,
    log,
    facts,
    here: () => new Date(),
    eventRetentionDays: 30,
    auditRetentionDays: undefined,
    everyMilliseconds: 20,
  });
  await vi.waitUntil(() => logs.length >= 3, { timeout: 60_000 });
  await jobs.stop();
  await away.close();
  expect(logs.every((line) => line.includes('the daily job failed'))).toBe(true);
  const stopped = logs.length;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(logs).toHaveLength(stopped);
});
