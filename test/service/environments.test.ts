// A database belongs to production or to a sandbox. A sandbox is refused by one of production before it writes anything.
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { newDataDir, type DataDir } from '../support/data-dir.ts';
import { createEmptyDatabase, createTestDatabase, query } from '../support/database.ts';
import { paymentsHere, startInVainHere } from '../support/in-process.ts';
import { productionEnv, startTestService, templateSecrets, type TestService } from '../support/service.ts';

const secrets = templateSecrets();
const productionOf = (databaseUrl: string) => ({
  environment: 'production' as const,
  publicUrl: 'https://pay.example',
  databaseUrl,
  secrets,
});

const startAndStop = async (config: Parameters<typeof startTestService>[0]): Promise<TestService> => {
  const service = await startTestService(config);
  await service[Symbol.asyncDispose]();
  return service;
};

const noted = (url: string) => query(url, `select value from settings where name = 'environment'`);
const tables = (url: string) =>
  query(url, `select tablename from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`);

/** Everything that a sandbox would add. */
const recordsIn = async (url: string) => ({
  accounts: await query(url, 'select id from merchant_accounts order by id'),
  pairs: await query(url, 'select display_name from api_key_pairs order by display_name'),
  transactions: await query(url, 'select count(*) as total from transactions'),
});

const belongsToProduction =
  /^The database of DATABASE_URL \(or DATABASE_URL_FILE\) belongs to production.* set ENVIRONMENT=production\./;

/** What a sandbox answers, and that it left no trace. */
async function startSandboxInVain(databaseUrl: string, dataDir: DataDir): Promise<string> {
  const before = await recordsIn(databaseUrl);
  const { status, stdout, stderr } = await startInVainHere({
    DATA_DIR: dataDir.path,
    DATABASE_URL: databaseUrl,
  });
  expect({ status, stdout }).toEqual({ status: 78, stdout: '' });
  expect(await recordsIn(databaseUrl)).toEqual(before);
  expect(existsSync(dataDir.path)).toBe(false);
  return stderr;
}

describe('a database of production', () => {
  it('is refused by a sandbox start, which adds neither data nor a key', async () => {
    await using dataDir = await newDataDir();
    const databaseUrl = await createTestDatabase();
    await startAndStop({ config: productionOf(databaseUrl) });
    expect(await noted(databaseUrl)).toEqual([{ value: 'production' }]);
    expect(await startSandboxInVain(databaseUrl, dataDir)).toMatch(belongsToProduction);
    await startAndStop({ config: productionOf(databaseUrl) });
  });

  it('is refused by commands without ENVIRONMENT=production, and noted by those with it', async () => {
    await using dataDir = await newDataDir();
    const databaseUrl = await createEmptyDatabase();
    const account = ['accounts', 'create', 'default', '--name', 'Default'];
    expect((await paymentsHere(account, productionEnv({ databaseUrl, secrets }))).status).toBe(0);
    expect(await noted(databaseUrl)).toEqual([{ value: 'production' }]);
    const env = { DATA_DIR: dataDir.path, DATABASE_URL: databaseUrl };
    for (const args of [
      ['keys', 'create', '--name', 'Mistake'],
      ['seed', '--transactions', '5'],
      ['accounts', 'list'],
      ['doctor'],
    ]) {
      const { status, stdout, stderr } = await paymentsHere(args, env);
      expect([status, stdout, args]).toEqual([78, '', args]);
      expect(stderr).toMatch(belongsToProduction);
    }
    expect(await recordsIn(databaseUrl)).toEqual({
      ...{ accounts: [{ id: 'default' }], pairs: [], transactions: [{ total: '0' }] },
    });
    expect(existsSync(dataDir.path)).toBe(false);
  });

  it('without a note is not filled either if it has records, and is noted by the next production start', async () => {
    await using dataDir = await newDataDir();
    const databaseUrl = await createTestDatabase();
    await query(databaseUrl, `insert into merchant_accounts (id, display_name) values ('shop', 'Shop')`);
    expect(await startSandboxInVain(databaseUrl, dataDir)).toMatch(
      /^The database of DATABASE_URL \(or DATABASE_URL_FILE\) has merchant accounts or key pairs that no sandbox created.* ENVIRONMENT=production\./,
    );
    expect(await noted(databaseUrl)).toEqual([]);
    await startAndStop({ config: productionOf(databaseUrl) });
    expect(await startSandboxInVain(databaseUrl, dataDir)).toMatch(belongsToProduction);
  });

  it('is refused before it is migrated', async () => {
    await using dataDir = await newDataDir();
    const databaseUrl = await createEmptyDatabase();
    await query(databaseUrl, 'create table settings (name text primary key, value text not null)');
    await query(databaseUrl, `insert into settings values ('environment', 'production')`);
    await query(databaseUrl, `create table applied_migrations as select '9999-later' as name`);
    const before = await tables(databaseUrl);
    const env = { DATA_DIR: dataDir.path, DATABASE_URL: databaseUrl };
    expect((await startInVainHere(env)).stderr).toMatch(belongsToProduction);
    expect(await tables(databaseUrl)).toEqual(before);
  });
});

describe('a database that a sandbox filled', () => {
  it('starts as production, which warns of the key of the sandbox, and stays usable for the sandbox', async () => {
    await using dataDir = await newDataDir();
    const databaseUrl = await createTestDatabase('furnished');
    expect(await noted(databaseUrl)).toEqual([{ value: 'sandbox' }]);
    const { logs } = await startAndStop({ config: productionOf(databaseUrl) });
    expect(logs.join('')).toContain('payments keys deactivate');
    expect(await noted(databaseUrl)).toEqual([{ value: 'sandbox' }]);
    await startAndStop({ config: { databaseUrl, dataDir: dataDir.path } });
  });

  it('without a note starts as production, which warns of the key of the sandbox', async () => {
    const databaseUrl = await createTestDatabase('furnished');
    await query(databaseUrl, `delete from settings where name = 'environment'`);
    const { logs } = await startAndStop({ config: productionOf(databaseUrl) });
    const [pair] = await query(databaseUrl, 'select id from api_key_pairs');
    expect(logs.join('')).toContain(`payments keys deactivate ${String(pair?.id)}`);
    expect(await noted(databaseUrl)).toEqual([{ value: 'production' }]);
    await query(databaseUrl, 'update api_key_pairs set active = false');
    const after = await startAndStop({ config: productionOf(databaseUrl) });
    expect(after.logs.join('')).not.toContain('keys deactivate');
  });
});

it('a sandbox and production that start at once on an empty database: nothing is added to one of production', async () => {
  await using dataDir = await newDataDir();
  const databaseUrl = await createEmptyDatabase();
  const starts = await Promise.allSettled([
    startTestService({ config: productionOf(databaseUrl) }),
    startTestService({ config: { databaseUrl, dataDir: dataDir.path } }),
    startTestService({ config: productionOf(databaseUrl) }),
    startTestService({ config: { databaseUrl, dataDir: dataDir.path } }),
  ]);
  const running = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  for (const service of running) await service[Symbol.asyncDispose]();
  const [{ value } = {}] = await noted(databaseUrl);
  const started = running.map(({ config }) => config.environment);
  const production = ['production', 'production'];
  expect(started.sort()).toEqual(value === 'production' ? production : [...production, 'sandbox', 'sandbox']);
  const { accounts, pairs } = await recordsIn(databaseUrl);
  expect([accounts.length, pairs.length]).toEqual(value === 'production' ? [0, 0] : [2, 1]);
});
