// A database that is read-only, or whose role lacks rights: one sentence says what to do, and lists still work on a standby.
import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { migrations } from '../../server/migrations/index.ts';
import { card } from '../support/card.ts';
import { createEmptyDatabase, createTestDatabase, withClient } from '../support/database.ts';
import { paymentsHere, startInVainHere } from '../support/in-process.ts';
import type { Env } from '../support/processes.ts';
import { startReceiver } from '../support/receiver.ts';
import { noSecrets, productionEnv, startTestService, testSecrets } from '../support/service.ts';
import { hasty, settled, subscribe } from '../support/webhooks.ts';

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
        /^The database at \S+ is read-only, perhaps a standby\. Point DATABASE_URL \(or DATABASE_URL_FILE\) to the primary\.\n$/,
      ),
    ]);
  });

  it('is refused by commands that write', async () => {
    const { status, stderr } = await paymentsHere(['accounts', 'create', 'shop', '--name', 'Shop'], env);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^The database is read-only, .* DATABASE_URL/),
    ]);
  });

  it.each(['accounts list', 'keys list', 'transactions list', 'webhooks deliveries', 'audit', 'doctor'])(
    'is read by %s',
    async (command) => {
      const { status, stderr } = await paymentsHere(command.split(' '), env);
      expect([status, stderr]).toEqual([0, '']);
    },
  );
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
    const env = productionEnv({ databaseUrl: url, secrets });
    const expected = expect.stringMatching(
      new RegExp(
        String.raw`^The role of DATABASE_URL \(or DATABASE_URL_FILE\) lacks rights: permission denied for ${what}\. It must own the database and its tables, or their owner runs .*payments database migrate --grant ${role}: see .*\n$`,
      ),
    ) as string;
    for (const ended of [await startInVainHere(env), await paymentsHere(account, env)])
      expect([ended.status, ended.stderr]).toEqual([1, expected]);
  });
});

describe('a role that owns nothing', () => {
  const role = `service_${randomBytes(4).toString('hex')}`;
  const password = randomBytes(8).toString('hex');
  let owner: string;
  let databaseUrl: string;

  beforeAll(async () => {
    owner = await createEmptyDatabase();
    databaseUrl = Object.assign(new URL(owner), { username: role, password }).href;
    await withClient(owner, (client) => client.query(`create role ${role} login password '${password}'`));
  });
  afterAll(() =>
    withClient(owner, async (client) => {
      await client.query(`drop owned by ${role}`);
      await client.query(`drop role ${role}`);
    }),
  );

  const hasMaintain = async () => {
    const { rows } = await withClient(owner, (client) =>
      client.query<{ is: boolean }>("select current_setting('server_version_num')::integer >= 170000 as is"),
    );
    return rows[0]?.is === true;
  };

  it('is given its rights by the owner, who migrates; a second time changes nothing', async () => {
    const migrate = async () => {
      const ended = await paymentsHere(['database', 'migrate', '--grant', role, '--json'], {
        DATABASE_URL: owner,
      });
      expect([ended.status, ended.stderr]).toEqual([0, '']);
      return JSON.parse(ended.stdout) as unknown;
    };
    expect(await migrate()).toEqual({ granted: role, migrated: Object.keys(migrations).toSorted() });
    expect(await migrate()).toEqual({ granted: role, migrated: [] });
  });

  it('no role is given them that is missing, or that could empty the audit trail', async () => {
    const refusalOf = async (to: string, as = owner) => {
      const ended = await paymentsHere(['database', 'migrate', '--grant', to], { DATABASE_URL: as });
      return [ended.status, ended.stdout, ended.stderr];
    };
    const [member, ownRole] = [`${role}_member`, decodeURIComponent(new URL(owner).username)];
    await withClient(owner, (client) => client.query(`create role ${member} in role "${ownRole}"`));
    onTestFinished(() =>
      withClient(owner, (client) => client.query(`drop role ${member}`)).then(() => undefined),
    );
    // PostgreSQL would only warn.
    const other = `${role}_other`;
    await withClient(owner, (client) => client.query(`create role ${other}`));
    onTestFinished(() =>
      withClient(owner, (client) => client.query(`drop role ${other}`)).then(() => undefined),
    );
    expect(await refusalOf(other, databaseUrl)).toEqual([
      1,
      '',
      expect.stringContaining(`Call this with the settings of ${ownRole}.`),
    ]);
    expect(await refusalOf('paymnets')).toEqual([
      1,
      '',
      expect.stringMatching(
        /^There is no role paymnets .*create it: see "Two database roles" in docs\/guides\/operator\.md\.$/m,
      ),
    ]);
    expect(await refusalOf(ownRole)).toEqual([
      1,
      '',
      expect.stringMatching(/ owns the tables, so it can empty the audit trail\. Name a role/),
    ]);
    expect(await refusalOf(member)).toEqual([
      1,
      '',
      expect.stringContaining(`or a member of ${ownRole}, which owns`),
    ]);
  });

  it('serves every operation, delivers webhooks, and runs commands', async () => {
    await using service = await startTestService({
      config: { databaseUrl, secrets: noSecrets },
      webhooks: hasty,
    });
    await using receiver = await startReceiver();
    const env = { DATABASE_URL: databaseUrl, DATA_DIR: service.config.dataDir };
    const run = async (...args: string[]) => {
      const ended = await paymentsHere([...args, '--json'], env);
      expect([args, ended.status, ended.stderr]).toEqual([args, 0, '']);
      return JSON.parse(ended.stdout) as { id: string; items: { broken: number }[] };
    };
    const subscription = await subscribe(service, receiver.url);
    const token = service.token('*.read', '*.write');
    for (const path of [
      '/api-key-pairs',
      '/card-scheme-definitions',
      '/transactions',
      '/webhook-subscriptions',
    ])
      expect([path, (await service.call('GET', path, { token })).status]).toEqual([path, 200]);
    const buyer = await run('buyers', 'create', '--name', 'Jane');
    const stored = await service.call('POST', '/payment-methods', {
      token,
      headers: { 'Idempotency-Key': 'once' },
      body: { ...card, buyer_id: buyer.id },
    });
    expect(stored.status).toBe(201);
    const balances = { token: service.token('embed'), body: { items: [{ id: randomUUID() }] } };
    expect((await service.call('POST', '/gift-cards/balances', balances)).status).toBe(200);
    await settled(service, subscription);
    expect(receiver.got).not.toEqual([]);
    await run('seed', '--transactions', '20');
    await run('secrets', 'rotate');
    const erase = ['buyers', 'erase', buyer.id, '--yes'];
    const tables = 'payment_methods, transactions';
    // Older versions have no such right.
    if (await hasMaintain())
      await withClient(owner, (client) => client.query(`revoke maintain on ${tables} from ${role}`));
    const refused = await paymentsHere(erase, env);
    expect([refused.status, refused.stdout, refused.stderr]).toEqual([
      1,
      expect.not.stringContaining('Erased'),
      expect.stringMatching(
        /^This role cannot erase: .* statistics of \w+, .* lets only (\S+), .* settings of \1: see/m,
      ),
    ]);
    expect((await run('buyers', 'show', buyer.id)) as unknown).toMatchObject({
      display_name: 'Jane',
      erased_at: null,
    });
    if (await hasMaintain()) {
      await withClient(owner, (client) => client.query(`grant maintain on ${tables} to ${role}`));
      await run(...erase);
    } else expect((await paymentsHere(erase, { ...env, DATABASE_URL: owner })).status).toBe(0);
    expect((await run('doctor')).items.filter(({ broken }) => broken > 0)).toEqual([]);
    expect((await run('audit')).items.length).toBeGreaterThan(3);
  });

  it('is given its rights in another schema, where the tables are', async () => {
    const url = await createEmptyDatabase();
    const name = new URL(url).pathname.slice(1);
    await withClient(url, async (client) => {
      await client.query('create schema "Own Schema"');
      await client.query(`alter database ${name} set search_path = "Own Schema"`);
    });
    const ended = await paymentsHere(['database', 'migrate', '--grant', role], { DATABASE_URL: url });
    expect([ended.status, ended.stderr]).toEqual([0, '']);
    const asRole = Object.assign(new URL(url), { username: role, password }).href;
    const listed = await paymentsHere(['accounts', 'list', '--json'], { DATABASE_URL: asRole });
    expect([listed.status, listed.stderr]).toEqual([0, '']);
    await withClient(url, (client) => client.query(`drop owned by ${role}`));
  });

  it('is not said to have rights that only the owner of the schema can give', async () => {
    const url = await createEmptyDatabase();
    const name = new URL(url).pathname.slice(1);
    const [dba, migrator] = [`${role}_dba`, `${role}_migrator`];
    await withClient(url, async (client) => {
      await client.query(`create role ${dba}`);
      await client.query(`create role ${migrator} login password '${password}'`);
      await client.query(`create schema app authorization ${dba}`);
      await client.query(`grant usage, create on schema app to ${migrator}`);
      await client.query(`alter database ${name} set search_path = app`);
    });
    onTestFinished(() =>
      withClient(url, async (client) => {
        await client.query(`drop owned by ${role}, ${migrator}, ${dba} cascade`);
        await client.query(`drop role ${migrator}, ${dba}`);
      }),
    );
    const asMigrator = Object.assign(new URL(url), { username: migrator, password }).href;
    const migrate = async () => {
      const args = ['database', 'migrate', '--grant', role];
      const { status, stderr } = await paymentsHere(args, { DATABASE_URL: asMigrator });
      return [status, stderr];
    };
    const told = `The schema app belongs to ${dba}, who must call once: grant usage on schema "app" to "${role}"`;
    expect(await migrate()).toEqual([1, `${told}\n`]);
    await withClient(url, (client) => client.query(`grant usage on schema "app" to "${role}"`));
    expect(await migrate()).toEqual([0, '']);
  });

  it('may read all that pg_dump reads', async () => {
    const { rows } = await withClient(databaseUrl, (client) =>
      client.query(
        `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'S')
         and not has_table_privilege(oid, 'select')`,
      ),
    );
    expect(rows).toEqual([]);
  });

  it.each([
    'delete from audit_entries',
    "update audit_entries set command = 'x'",
    'truncate audit_entries',
    'drop table audit_entries',
    'create table more (id int)',
  ])('may not: %s', async (statement) => {
    await expect(withClient(databaseUrl, (client) => client.query(statement))).rejects.toThrow(
      /permission denied|must be owner/,
    );
  });

  it('is told to have the owner migrate, when a version has more migrations', async () => {
    migrations['9998-later'] = {
      up: (db) => sql`create table later (id int)`.execute(db).then(() => undefined),
    };
    try {
      const { status, stderr } = await startInVainHere({ DATABASE_URL: databaseUrl });
      expect(status).toBe(1);
      expect(stderr).toContain('payments database migrate --grant');
    } finally {
      delete migrations['9998-later'];
    }
  });
});
