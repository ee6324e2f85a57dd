// Two instances of the service on one PostgreSQL share migrations, sample data, rate limits and the places of deliveries.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '../../server/database/migrations/index.ts';
import { openReadyDatabase } from '../../server/database/open.ts';
import { defaultLimits } from '../../server/events/worker.ts';
import { newDataDir, type DataDir } from '../support/data-dir.ts';
import { appliedTo, createEmptyDatabase } from '../support/database.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestService, testSecrets, type TestService } from '../support/service.ts';
import { patient, settled, storeCard, subscribe } from '../support/webhooks.ts';

const names = Object.keys(migrations).sort();

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
});
