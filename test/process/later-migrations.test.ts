// An instance of this version beside a later one, which has migrated the database.
import { describe, expect, it } from 'vitest';
import { digests, migrations } from '../../server/store/migrations/index.ts';
import { openStore } from '../../server/store/open.ts';
import { appliedTo, createEmptyDatabase, withClient } from '../support/database.ts';
import { startTestService } from '../support/service.ts';

it('a start that migrates says so, once', async () => {
  const databaseUrl = await createEmptyDatabase();
  const saysSo = async () => {
    await using service = await startTestService({ config: { databaseUrl, environment: 'production' } });
    const lines = service.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
    return lines.filter(({ msg }) => msg === 'the database was migrated');
  };
  const names = Object.keys(migrations);
  expect(await saysSo()).toEqual([expect.objectContaining({ migrations: names.length, last: names.at(-1) })]);
  expect(await saysSo()).toEqual([]);
});

it('a sandbox names a migration that was edited after it was applied; production does not look', async () => {
  const databaseUrl = await createEmptyDatabase();
  const start = async (environment: 'sandbox' | 'production') => {
    const options = { databaseUrl, environment, dataDir: '/nowhere', log: () => undefined, size: 2 };
    await (await openStore(options)).close();
  };
  await start('sandbox');
  await start('sandbox');
  const [first = '', second = ''] = Object.keys(digests);
  await withClient(databaseUrl, (client) =>
    client.query(
      `update settings set value = replace(replace(value, $1, 'old'), $2, 'old') where name = $3`,
      [...[digests[first], digests[second]], 'migrations'],
    ),
  );
  await expect(start('sandbox')).rejects.toThrow(`${first}, ${second} were edited after this database`);
  await start('production');
});

describe('an instance that is restarted after a later version has migrated the database', () => {
  const start = async (databaseUrl: string) => {
    const store = await openStore({
      databaseUrl,
      environment: 'sandbox',
      dataDir: '/nowhere',
      log: () => undefined,
      size: 2,
    });
    await store.close();
    return store.migrated;
  };
  const note = (databaseUrl: string, name: string) =>
    withClient(databaseUrl, (client) =>
      client.query('insert into kysely_migration (name, timestamp) values ($1, now()::text)', [name]),
    );

  it('starts, because later migrations leave this version working', async () => {
    const databaseUrl = await createEmptyDatabase();
    await start(databaseUrl);
    await note(databaseUrl, '9998-later');
    expect(await start(databaseUrl)).toEqual([]);
    expect(await appliedTo(databaseUrl)).toEqual([...Object.keys(migrations), '9998-later']);
  });

  it('refuses a database with a migration that it should know', async () => {
    const databaseUrl = await createEmptyDatabase();
    await start(databaseUrl);
    await note(databaseUrl, '0001-another');
    await expect(start(databaseUrl)).rejects.toThrow('The database could not be migrated');
  });
});
