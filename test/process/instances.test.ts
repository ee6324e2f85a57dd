// Two instances of the service on one PostgreSQL share migrations, sample data, rate limits and the places of deliveries.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openReadyDatabase } from '../../server/database.ts';
import { migrations } from '../../server/migrations/index.ts';
import { newDataDir, type DataDir } from '../support/data-dir.ts';
import { appliedTo, createEmptyDatabase } from '../support/database.ts';
import { startTestService, testSecrets, type TestService } from '../support/service.ts';

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
});
