// A database that is read-only, or whose role lacks rights: one sentence says what to do, and lists still work on a standby.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createEmptyDatabase, createTestDatabase, withClient } from '../support/database.ts';
import { paymentsHere, startInVainHere } from '../support/in-process.ts';
import type { Env } from '../support/processes.ts';
import { productionEnv, testSecrets } from '../support/service.ts';

const secrets = testSecrets();
const account = ['accounts', 'create', 'default', '--name', 'Default'];

describe('a read-only database', () => {
  let env: Env;
  beforeAll(async () => {
    const url = await createTestDatabase();
    env = productionEnv({ databaseUrl: url, secrets });
    expect((await paymentsHere(account, env)).status).toBe(0);
    const name = new URL(url).pathname.slice(1);
    await withClient(inject('serverUrl'), (client) =>
      client.query(`alter database ${name} set default_transaction_read_only = on`),
    );
  });

  it('is refused by a start, with one sentence', async () => {
    const { status, stderr } = await startInVainHere(env);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^The database at \S+ is read-only, perhaps a standby\. Point DATABASE_URL to the primary\.\n$/,
      ),
    ]);
  });

  it('is refused by commands that write', async () => {
    const { status, stderr } = await paymentsHere(['accounts', 'create', 'shop', '--name', 'Shop'], env);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^The database of DATABASE_URL is read-only/),
    ]);
  });

  it.each([
    'accounts list',
    'keys list',
    'transactions list',
    'webhooks deliveries',
    'audit',
    'secrets status',
  ])('is read by %s', async (command) => {
    const { status, stderr } = await paymentsHere(command.split(' '), env);
    expect([status, stderr]).toEqual([0, '']);
  });
});

describe('a role without rights', () => {
  const role = `weak_${randomBytes(4).toString('hex')}`;
  const password = randomBytes(8).toString('hex');
  const asRole = (url: string) => Object.assign(new URL(url), { username: role, password }).href;
  beforeAll(() =>
    withClient(inject('serverUrl'), (client) =>
      client.query(`create role ${role} login password '${password}'`),
    ),
  );
  afterAll(() => withClient(inject('serverUrl'), (client) => client.query(`drop role ${role}`)));

  it.each([
    ['table applied_migrations', createTestDatabase],
    ['schema public', createEmptyDatabase],
  ])('on the %s is told what it must own', async (what, create) => {
    const url = asRole(await create());
    const name = new URL(url).pathname.slice(1);
    const env = productionEnv({ databaseUrl: url, secrets });
    const expected = expect.stringMatching(
      new RegExp(
        String.raw`^The role of DATABASE_URL lacks rights: permission denied for ${what}\. It must own the database \(ALTER DATABASE ${name} OWNER TO ${role}\) and its tables \(REASSIGN OWNED BY … TO ${role}\)\.\n$`,
      ),
    ) as string;
    for (const ended of [await startInVainHere(env), await paymentsHere(account, env)])
      expect([ended.status, ended.stderr]).toEqual([1, expected]);
  });
});
