// A mistyped DATABASE_URL: nothing is added to the database of another application, and lists never migrate.
import { describe, expect, it } from 'vitest';
import { secretNames } from '../../server/settings.ts';
import { appliedTo, createEmptyDatabase, createTestDatabase, withClient } from '../support/database.ts';
import { paymentsHere, startInVainHere } from '../support/in-process.ts';
import type { Env } from '../support/processes.ts';
import { testSecrets } from '../support/service.ts';

const secrets = testSecrets();
const envOf = (DATABASE_URL: string): Env => ({
  ...{ ENVIRONMENT: 'production', PUBLIC_URL: 'https://pay.example', DATABASE_URL },
  ...Object.fromEntries(secretNames.map((name) => [name, secrets[name][0].toString('base64')])),
});
const run = (url: string, text: string) => withClient(url, (client) => client.query(text));
const tablesIn = (url: string) =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
       where relkind in ('r', 'p') and nspname not like 'pg\\_%' and nspname <> 'information_schema' order by 1`,
    );
    return rows.map(({ name }) => name);
  });
const account = ['accounts', 'create', 'default', '--name', 'Default'];
const id = '7099948d-7286-47e4-aad8-b68f7eb44591';
const reads = [
  ...['accounts list', 'roles list', 'keys list', 'audit', 'buyers list', `buyers show ${id}`],
  ...['payment-methods list', `payment-methods show ${id}`, 'gift-cards list'],
  ...['transactions list', `transactions show ${id}`, 'webhooks list', 'webhooks deliveries', 'doctor'],
];

describe('a database with tables of another application', () => {
  const refusal = (url: string) => {
    const { host, pathname, searchParams } = new URL(url);
    return `The database ${searchParams.get('host') ?? host}${pathname} has tables of another application (invoices, users). Check DATABASE_URL (or DATABASE_URL_FILE).\n`;
  };

  it('is refused by the service and by commands, and stays as it is', async () => {
    const url = await createEmptyDatabase();
    await run(url, 'create table users (id int); create table invoices (id int)');
    const before = await tablesIn(url);
    const ended = [
      await startInVainHere(envOf(url)),
      await paymentsHere(account, envOf(url)),
      await paymentsHere(['accounts', 'list'], envOf(url)),
      await paymentsHere(['doctor'], envOf(url)),
    ];
    expect(ended.map(({ status, stderr }) => [status, stderr])).toEqual(ended.map(() => [1, refusal(url)]));
    expect(await tablesIn(url)).toEqual(before);
  });

  it('is used when they are in another schema, partitions, views, or of an extension', async () => {
    const url = await createEmptyDatabase();
    await run(
      url,
      `create schema pgboss; create table pgboss.job (id int); create view users as select 1 as id;
       create table public.noted (id int); alter extension plpgsql add table public.noted;
       create table pgboss.days (day date) partition by range (day);
       create table public.day_1 partition of pgboss.days for values from ('2026-01-01') to ('2026-01-02')`,
    );
    const { status, stderr } = await paymentsHere(account, envOf(url));
    expect([status, stderr]).toEqual([0, '']);
  });
});

describe('a database that is not migrated', () => {
  it('is refused by commands that only read, and stays empty', async () => {
    const url = await createEmptyDatabase();
    for (const command of reads) {
      const { status, stderr } = await paymentsHere(command.split(' '), envOf(url));
      const said = expect.stringMatching(/^The database \S+ has no tables of this service\. Check/) as string;
      expect([command, status, stderr]).toEqual([command, 1, said]);
    }
    expect(await tablesIn(url)).toEqual([]);
  });

  it('is refused by them also when only the last migration is missing', async () => {
    const url = await createTestDatabase();
    const all = await appliedTo(url);
    await run(url, `update applied_migrations set name = '9999-later' where name = '${all.at(-1) ?? ''}'`);
    const { status, stderr } = await paymentsHere(['accounts', 'list'], envOf(url));
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/ is not migrated to this version, and .* Start the service first\.\n$/),
    ]);
    expect(await appliedTo(url)).toEqual([...all.slice(0, -1), '9999-later']);
  });
});
