// Two instances of the service on one PostgreSQL share rate limits, migrations and key pairs through the database.
import { sql } from 'kysely';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { deactivateKeyPair } from '../../server/resources/api-key-pairs/changes.ts';
import { cards } from '../../server/sandbox/sample-records.ts';
import { migrations } from '../../server/database/migrations/index.ts';
import { openReadyDatabase } from '../../server/database/open.ts';
import { defaultLimits } from '../../server/events/worker.ts';
import { eventually, newDataDir, type DataDir } from '../support/data-dir.ts';
import { appliedTo, createEmptyDatabase, withClient } from '../support/database.ts';
import { recordReplacement, silentWork } from '../support/records.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestService, testSecrets, type TestService } from '../support/service.ts';
import { patient, settled, storeCard, subscribe, until } from '../support/webhooks.ts';

const names = Object.keys(migrations);

describe('several instances that start at once on an empty database', () => {
  it('apply each migration once', async () => {
    const databaseUrl = await createEmptyDatabase();
    const open = () =>
      openReadyDatabase({
        databaseUrl,
        environment: 'sandbox',
        dataDir: '/nowhere',
        log: () => undefined,
        size: 2,
      });
    const stores = await Promise.all([open(), open(), open(), open()]);
    await Promise.all(stores.map((store) => store.close()));
    expect(stores.flatMap(({ migrated }) => migrated).sort()).toEqual(names);
    expect(await appliedTo(databaseUrl)).toEqual(names);
  });

  it('may migrate, and wait for each other, longer than the statement timeout of requests', async () => {
    const databaseUrl = await createEmptyDatabase();
    const limits: string[] = [];
    migrations['9999-curious'] = {
      up: async (db) => {
        const { rows } = await sql<{ statement_timeout: string }>`show statement_timeout`.execute(db);
        limits.push(...rows.map((row) => row.statement_timeout));
      },
    };
    try {
      await (
        await openReadyDatabase({
          databaseUrl,
          environment: 'sandbox',
          dataDir: '/nowhere',
          log: () => undefined,
        })
      ).close();
    } finally {
      delete migrations['9999-curious'];
    }
    expect(limits).toEqual(['0']);
  });
});

describe('two running instances', () => {
  let dataDir: DataDir;
  let one: TestService;
  let two: TestService;

  beforeAll(async () => {
    dataDir = await newDataDir();
    const config = {
      dataDir: dataDir.path,
      databaseUrl: await createEmptyDatabase(),
      secrets: testSecrets(),
    };
    [one, two] = await Promise.all([startTestService({ config }), startTestService({ config })]);
  });
  afterAll(async () => {
    await one[Symbol.asyncDispose]();
    await two[Symbol.asyncDispose]();
    await dataDir[Symbol.asyncDispose]();
  });

  it('created the sample data once', async () => {
    expect(await appliedTo(one.config.databaseUrl ?? '')).toEqual(names);
    const { body } = await two.call('GET', '/api-key-pairs', { token: one.token('*.read') });
    expect((body as { items: unknown[] }).items).toHaveLength(1);
  });

  it('count the calls of an embed token together: 50 for both', async () => {
    const token = one.token('embed');
    const body = { items: [{ number: '4123456789012345', pin: '1234' }] };
    const calls = Array.from({ length: 60 }, (_, index) =>
      (index % 2 === 0 ? one : two).call('POST', '/gift-cards/balances', { token, body }),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    // Every token has its own count.
    const other = await two.call('POST', '/gift-cards/balances', {
      token: two.token('embed', '*.read'),
      body,
    });
    expect(other.status).toBe(200);
  });

  it('refuse a key pair within seconds after either of them deactivated it', async () => {
    const pair = await one.pair();
    const statusOn = async (instance: TestService) =>
      (await instance.call('GET', '/api-key-pairs', { token: pair.token('*.read') })).status;
    expect([await statusOn(one), await statusOn(two)]).toEqual([200, 200]);
    await silentWork(one.service.database.db, (unit) => deactivateKeyPair(unit, pair.id));
    await eventually(async () => (await statusOn(two)) === 401, 'the other instance refuses it', 5);
    await eventually(async () => (await statusOn(one)) === 401, 'the first instance refuses it', 5);
  });

  it('accept each other’s cursors', async () => {
    await one.pair();
    const token = one.token('*.read');
    interface List {
      items: { id: string }[];
      next_cursor: string | null;
      previous_cursor: string | null;
    }
    const first = (await one.call('GET', '/api-key-pairs?limit=1', { token })).body as List;
    const query = `?limit=1&cursor=${first.next_cursor ?? ''}`;
    const answer = await two.call('GET', `/api-key-pairs${query}`, { token });
    expect(answer.status).toBe(200);
    const second = answer.body as List;
    expect(second.items[0]?.id).not.toBe(first.items[0]?.id);
    const back = await one.call('GET', `/api-key-pairs?limit=1&cursor=${second.previous_cursor ?? ''}`, {
      token,
    });
    expect((back.body as List).items).toEqual(first.items);
  });
});

describe('jobs of two instances', () => {
  it('change a record once, although both run them all the time', async () => {
    let now = new Date('2039-12-31T23:59:59Z');
    const options = { now: () => now, jobMilliseconds: 20 };
    await using first = await startTestService(options);
    const { databaseUrl, dataDir, secrets } = first.config;
    await using second = await startTestService({ ...options, config: { databaseUrl, dataDir, secrets } });
    const [{ id } = { id: '' }] = cards;
    await recordReplacement({ db: first.service.database.db, secrets: first.secrets, now }, id);
    now = new Date('2040-01-01T00:00:00Z');
    const runsOf = ({ logs }: TestService) => logs.filter((line) => line.includes('"expired-cards"'));
    const before = [first, second].map((one) => runsOf(one).length);
    await vi.waitUntil(
      () => [first, second].every((one, index) => runsOf(one).length > (before[index] ?? 0) + 2),
      { timeout: 20_000 },
    );
    const changes = [first, second].flatMap(runsOf).filter((line) => line.includes('"done":1,'));
    expect(changes).toHaveLength(1);
  });
});

describe('webhooks of two instances', () => {
  const { perSubscription } = defaultLimits;
  const startBeside = ({ config: { databaseUrl, dataDir, secrets } }: TestService) =>
    startTestService({ webhooks: patient, config: { databaseUrl, dataDir, secrets } });

  it('a receiver that hangs has no more attempts under way than from one, and delays no other account', async () => {
    await using hanging = await startReceiver(() => undefined);
    await using good = await startReceiver();
    await using first = await startTestService({ webhooks: patient });
    await using second = await startBeside(first);
    await subscribe(first, hanging.url);
    for (let made = 0; made < 2 * perSubscription; made += 1) await storeCard(made % 2 ? first : second);
    await hanging.received(perSubscription);
    const subscription = await subscribe(second, good.url, { account: 'marketplace' });
    await storeCard(first, 'marketplace');
    await good.received(1);
    expect((await settled(second, subscription)).attempts).toBe(1);
    expect(hanging.got).toHaveLength(perSubscription);
    await hanging[Symbol.asyncDispose]();
  });

  it('one that stops leaves its deliveries to the other at once', async () => {
    let mayAnswer = false;
    await using receiver = await startReceiver((res) => {
      if (mayAnswer) res.writeHead(204).end();
    });
    const first = await startTestService({ webhooks: patient });
    await subscribe(first, receiver.url);
    for (let made = 0; made < 2 * perSubscription; made += 1) await storeCard(first);
    await receiver.received(perSubscription);
    await using second = await startBeside(first);
    const read = (text: string) =>
      withClient(second.config.databaseUrl ?? '', (client) => client.query(text));
    mayAnswer = true;
    await first[Symbol.asyncDispose]();
    await until(
      async () => (await read(`select from deliveries where state <> 'succeeded'`)).rowCount === 0,
      20,
    );
  });

  it('a subscription that one has switched off gets nothing from the other', async () => {
    await using receiver = await startReceiver((res) => res.writeHead(500).end());
    let now = new Date();
    const webhooks = { ...patient, now: () => now, schedule: () => 0.05 };
    await using first = await startTestService({ webhooks });
    const { databaseUrl, dataDir, secrets } = first.config;
    const subscription = await subscribe(first, receiver.url);
    await storeCard(first);
    await receiver.received(1);
    now = new Date(now.getTime() + 6 * 86_400_000);
    const { pool } = first.service.database;
    const isOff = async () =>
      (await pool.query('select from webhook_subscriptions where id = $1 and not active', [subscription.id]))
        .rowCount === 1;
    await until(isOff);
    await using second = await startTestService({ webhooks, config: { databaseUrl, dataDir, secrets } });
    await storeCard(second);
    // The one from before.
    const count = (client: pg.Client) => client.query('select from deliveries');
    expect((await withClient(databaseUrl ?? '', count)).rowCount).toBe(1);
  });
});
