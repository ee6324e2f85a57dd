// The service starts on a database that version 1.0.1 left in the middle of its work, and nothing is lost.
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signToken } from '../../server/domain/token.ts';
import { openSecrets } from '../../server/secrets.ts';
import { migrations } from '../../server/store/migrations/index.ts';
import { countSealed, countUnbound, listSealed } from '../../server/store/reseal.ts';
import { findSealer } from '../../server/store/sealing.ts';
import { numbers } from '../fixtures/upgrade-1.0.1/parts.ts';
import { eventually } from '../support/data-dir.ts';
import { appliedTo, withClient } from '../support/database.ts';
import { paymentsHere } from '../support/in-process.ts';
import { startNode } from '../support/processes.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { noSecrets, startTestService, type TestService } from '../support/service.ts';
import {
  createUpgradeDataDir,
  keyOf,
  readFixture,
  restoreFixture,
  type Fixture,
} from '../support/upgrade.ts';
import { until, verify } from '../support/webhooks.ts';

interface DeliveryRow {
  event_id: string;
  subscription_id: string;
  state: string;
}

/** What must be the same before and after, by table and ID. */
async function readTimes(url: string): Promise<Map<string, string>> {
  const times = new Map<string, string>();
  await withClient(url, async (client) => {
    for (const table of [
      'api_key_pairs',
      'buyers',
      'payment_methods',
      'transactions',
      'webhook_subscriptions',
    ]) {
      const { rows } = await client.query<{ id: string; times: string }>(
        `select id, created_at || ' ' || updated_at as times from ${table}`,
      );
      for (const row of rows) times.set(`${table} ${row.id}`, row.times);
    }
  });
  return times;
}

const readDeliveries = (url: string) =>
  withClient(url, async (client) => {
    const select = 'select event_id, subscription_id, state from deliveries';
    return (await client.query<DeliveryRow>(select)).rows;
  });

/** Every value that version 1.0.1 showed as a fingerprint, by where it is stored. */
const readFingerprints = (url: string) =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ place: string; value: string }>(`
      with shown as (select 'card' as place, fingerprint as value from payment_methods
      union select 'replacement', replacement ->> 'fingerprint' from payment_methods
      union select 'transaction', payment_method ->> 'fingerprint' from transactions
      union select 'event', substring(body from '"fingerprint":"([^"]+)"') from events)
      select * from shown where value is not null`);
    return rows;
  });

/** Tables in which one of these texts occurs. */
const tablesWith = (url: string, texts: readonly string[]) =>
  withClient(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')`);
    const found: string[] = [];
    for (const { name } of tables) {
      const { rowCount } = await client.query(
        `select from ${name} as one where one::text ~ any($1::text[]) limit 1`,
        [texts],
      );
      if (rowCount !== 0) found.push(name);
    }
    return found.sort();
  });

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const numberOf = (digest: string | null | undefined) =>
  Object.values(numbers).find((number) => sha256(number) === digest) ?? '';

describe('started on it, the service', () => {
  let fixture: Fixture;
  let receiver: Receiver;
  let databaseUrl: string;
  let dataDir: string;
  let service: TestService;
  let timesBefore: Map<string, string>;
  let deliveriesBefore: DeliveryRow[];
  let fingerprintsBefore: { place: string; value: string }[];

  beforeAll(async () => {
    fixture = await readFixture();
    receiver = await startReceiver();
    databaseUrl = await restoreFixture(new URL(receiver.url).origin);
    dataDir = await createUpgradeDataDir(fixture);
    timesBefore = await readTimes(databaseUrl);
    deliveriesBefore = await readDeliveries(databaseUrl);
    fingerprintsBefore = await readFingerprints(databaseUrl);
    service = await startTestService({ config: { databaseUrl, dataDir, secrets: noSecrets } });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
    await rm(dataDir, { recursive: true });
  });

  const payments = (args: string[], input = '') =>
    paymentsHere(args, { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, LOG_LEVEL: 'silent' }, input);
  const db = () => service.service.database.db;
  const findCard = (id: string) =>
    db().selectFrom('payment_methods').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const called = (name: string) => {
    const card = fixture.cards.find((one) => one.name === name);
    if (!card) throw new Error(`There is no card “${name}”.`);
    return card;
  };

  /** Digests of all that is sealed, by table and ID. */
  async function openEverything(): Promise<Map<string, string[]>> {
    // Not the vault of the service, which remembers keys that a rotation removed.
    const { vault } = await openSecrets(service.config);
    const { open } = await findSealer(db(), vault);
    const found = new Map<string, string[]>();
    await listSealed(db(), ({ sealed, place }) => {
      found.set(place.id, [...(found.get(place.id) ?? []), sha256(open(sealed, place))].sort());
    });
    return found;
  }

  async function expectCardsToOpen(): Promise<void> {
    const opened = await openEverything();
    for (const { id, number, replacement } of fixture.cards)
      expect(opened.get(id) ?? []).toEqual([number, replacement].filter((digest) => digest !== null).sort());
    for (const { id, number, pin } of fixture.gift_cards)
      expect(opened.get(id)).toEqual([number, pin].sort());
    for (const { id, secrets } of fixture.subscriptions)
      expect(opened.get(id)).toEqual(expect.arrayContaining(secrets.map(sha256)));
  }

  it('applies all migrations that are newer, and does not create the sample data again', async () => {
    expect(service.service.database.migrated).toEqual(Object.keys(migrations).slice(6));
    expect(await appliedTo(databaseUrl)).toEqual(Object.keys(migrations));
    expect([...(await readTimes(databaseUrl)).keys()].sort()).toEqual([...timesBefore.keys()].sort());
  });

  it('opens every sealed value, under the old key and under the new one', async () => {
    expect(await countUnbound(db())).toBeGreaterThan(40);
    expect([...(await countSealed(db())).keys()]).toHaveLength(2);
    await expectCardsToOpen();
  });

  it('accepts the tokens of every key pair for what its roles and accounts allow, and of no deactivated one', async () => {
    for (const { private_key: text, accounts, active, allow } of fixture.keys) {
      const token = signToken(keyOf(text), ['*.read'], 600);
      const status = async (path: string, account: string) => {
        const headers = { 'X-Service-Merchant-Account-ID': account };
        return (await service.call('GET', path, { token, headers })).status;
      };
      const all = accounts.length === 0;
      expect(await status('/transactions', 'marketplace')).toBe(active ? 200 : 401);
      expect(await status('/transactions', 'default')).toBe(active ? (all ? 200 : 404) : 401);
      expect(await status('/api-key-pairs', 'default')).toBe(
        active ? (allow.includes('*.read') ? 200 : 403) : 401,
      );
    }
  });

  it('answers every cursor with the same page, and refuses only those that the changelog names', async () => {
    const token = service.token('*.read');
    const answers = await Promise.all(
      fixture.cursors.map(async ({ path, account, cursor }) => {
        const headers = { 'X-Service-Merchant-Account-ID': account };
        const { status, body } = await service.call('GET', `${path}&cursor=${cursor}`, { token, headers });
        return status === 200 ? (body as { items: { id: string }[] }).items.map(({ id }) => id) : status;
      }),
    );
    expect(answers).toEqual(fixture.cursors.map(({ refused, ids }) => (refused ? 422 : ids)));
  });

  it('delivers what was pending once, and nothing that was delivered before', async () => {
    const pending = deliveriesBefore.filter(({ state }) => state === 'pending');
    const { rows: active } = await withClient(databaseUrl, (client) =>
      client.query<{ id: string }>('select id from webhook_subscriptions where active'),
    );
    const pathOf = new Map(
      fixture.subscriptions
        .filter(({ id, callable }) => callable && active.some((one) => one.id === id))
        .map(({ id, path }) => [id, path]),
    );
    expect([...pathOf.values()].sort()).toEqual([
      '/all',
      '/failing',
      '/hanging',
      '/login',
      '/market',
      '/ok',
      '/rotated',
    ]);
    const due = pending.flatMap(({ event_id: event, subscription_id: subscription }) => {
      const path = pathOf.get(subscription);
      return path === undefined ? [] : `${path} ${event}`;
    });
    await until(async () => !(await readDeliveries(databaseUrl)).some(({ state }) => state === 'pending'));
    expect(
      receiver.got.map(({ path, headers }) => `${path} ${String(headers['webhook-id'])}`).sort(),
    ).toEqual(due.sort());

    // Deliveries to subscriptions that are switched off are given up. The others keep their result.
    const after = new Map(
      (await readDeliveries(databaseUrl)).map((row) => [`${row.event_id} ${row.subscription_id}`, row.state]),
    );
    expect(after).toEqual(
      new Map(
        deliveriesBefore.map(({ event_id: event, subscription_id: subscription, state }) => [
          `${event} ${subscription}`,
          state !== 'pending' ? state : pathOf.has(subscription) ? 'succeeded' : 'failed',
        ]),
      ),
    );
  });

  it('signs with the secrets that the subscriptions had, and during a rotation with both', () => {
    for (const { path, secrets } of fixture.subscriptions)
      for (const got of receiver.got.filter((one) => one.path === path)) {
        expect(String(got.headers['webhook-signature']).split(' ')).toHaveLength(secrets.length);
        for (const secret of secrets) expect(verify(secret, got).id).toBe(got.headers['webhook-id']);
      }
    const login = receiver.got.find(({ path }) => path === '/login');
    expect(login?.headers.authorization).toBe(`Basic ${btoa('u:test')}`);
  });

  it('rewrites every fingerprint, so that none of version 1.0.1 is left anywhere', async () => {
    expect([...new Set(fingerprintsBefore.map(({ place }) => place))].sort()).toEqual([
      'card',
      'event',
      'replacement',
      'transaction',
    ]);
    await until(async () => {
      const { total } = await db()
        .selectFrom('fingerprint_progress')
        .select(({ fn }) => fn.countAll<number>().as('total'))
        .where('phase', '<>', 'done')
        .executeTakeFirstOrThrow();
      return total === 0;
    });
    const old = fingerprintsBefore.map(({ value }) => value);
    expect(await tablesWith(databaseUrl, old)).toEqual([]);
    // What the API shows is the new fingerprint, in events too, and not merely null.
    const { rows } = await withClient(databaseUrl, (client) =>
      client.query<{ places: string }>(`
        with shown as (select id, split_part(account_fingerprint, '.', 2) as value from payment_methods
          where status <> 'failed' and account_fingerprint is not null)
        select (exists (select from transactions, shown where payment_method ->> 'fingerprint' = value)) || ' ' ||
          (exists (select from events, shown where strpos(body, value) > 0)) as places`),
    );
    expect(rows).toEqual([{ places: 'true true' }]);
  });

  it('moves no time of a record, except of subscriptions that it switched off', async () => {
    const switchedOff = fixture.subscriptions
      .filter(({ callable }) => !callable)
      .map(({ id }) => `webhook_subscriptions ${id}`);
    const moved = [...(await readTimes(databaseUrl))].filter(
      ([name, times]) => timesBefore.get(name) !== times,
    );
    expect(moved.map(([name]) => name).sort()).toEqual(switchedOff.sort());
  });

  it('knows the number of a card when the account updater reports it again', async () => {
    const report = async (id: string, date: string, number: string) => {
      const before = await findCard(id);
      const args = ['payment-methods', 'found-replacement', id, '--expiration-date', date, '--new-number'];
      expect((await payments(args, `${number}\n`)).status).toBe(0);
      const { has_replacement, last_replaced_at, replacement } = await findCard(id);
      return { before, after: { has_replacement, last_replaced_at, waits: replacement?.expiration_date } };
    };
    // The same number and date: nothing changes.
    for (const name of ['succeeded', 'a new number was applied', 'with the new key']) {
      const { id, number } = called(name);
      const { before, after } = await report(
        id,
        (await findCard(id)).expiration_date ?? '',
        numberOf(number),
      );
      expect(after).toEqual({
        has_replacement: false,
        last_replaced_at: before.last_replaced_at,
        waits: undefined,
      });
    }
    // The number that waits already, in both accounts and with both keys.
    for (const name of ['a new number was found', 'a new number was found, with the new key']) {
      const { id, replacement } = called(name);
      const { before, after } = await report(id, '11/42', numberOf(replacement));
      expect(after).toEqual({ has_replacement: true, last_replaced_at: null, waits: '11/42' });
      expect((await findCard(id)).updated_at).toEqual(before.updated_at);
    }
    // The same number with another date applies at once.
    const { id, number } = called('the same number in another account');
    const { after } = await report(id, '11/45', numberOf(number));
    expect(after).toMatchObject({ has_replacement: false, last_replaced_at: expect.any(Date) as Date });
    expect((await findCard(id)).expiration_date).toBe('11/45');
  });

  it('completes the rotation of the card key that was interrupted, and every card opens after it', async () => {
    const { status, stdout, stderr } = await payments(['secrets', 'rotate']);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('no value uses another key');
    expect([...(await countSealed(db())).keys()]).toHaveLength(1);
    expect(await countUnbound(db())).toBe(0);
    await expectCardsToOpen();
  });

  it('has data that payments doctor finds nothing wrong with', async () => {
    const { status, stdout } = await payments(['doctor', '--json']);
    const findings = JSON.parse(stdout) as { items: { check: string; broken: number }[] };
    expect(findings.items.filter(({ broken }) => broken > 0)).toEqual([]);
    expect(status).toBe(0);
  });
});

/** Settings of a service with the database of version 1.0.1. Whoever asked removes DATA_DIR. */
async function restoredInstallation() {
  const fixture = await readFixture();
  return {
    DATABASE_URL: await restoreFixture(fixture.receiver),
    DATA_DIR: await createUpgradeDataDir(fixture),
    WEBHOOK_WORKER: 'off',
  };
}

/** Starts the service, and kills it when it waits for a lock that we hold. */
async function killWaiting(
  env: Awaited<ReturnType<typeof restoredInstallation>>,
  lock: string,
  table: string,
): Promise<void> {
  await withClient(env.DATABASE_URL, async (client) => {
    await client.query(`begin; lock table ${table} in ${lock} mode`);
    const child = startNode('server/main.ts', [], { env: { PORT: '0', ...env } });
    await eventually(async () => {
      const { rows } = await client.query(`select from pg_locks where not granted and database = (
        select oid from pg_database where datname = current_database()) and relation = '${table}'::regclass`);
      return rows.length > 0;
    }, 'the migration waits for our lock');
    child.process.kill('SIGKILL');
    await child.ended;
    await client.query('rollback');
  });
}

it('killed between two migrations, the service completes them at the next start', async () => {
  const env = await restoredInstallation();
  const before = await appliedTo(env.DATABASE_URL);
  // The first migration runs, and cannot be noted as applied.
  await killWaiting(env, 'share', 'kysely_migration');
  expect(await appliedTo(env.DATABASE_URL)).toEqual(before);
  const { status, stderr } = await paymentsHere(['roles', 'create', 'reader', '--allow', '*.read'], env);
  // The output of a command is for programs, so it says on standard error what takes long.
  expect([status, stderr]).toEqual([
    0,
    expect.stringContaining('migrating the database: 0015-account-first\n'),
  ]);
  expect(await appliedTo(env.DATABASE_URL)).toEqual(Object.keys(migrations));
  await rm(env.DATA_DIR, { recursive: true });
});

it('an online migration that is killed between its steps goes on with the step that it was in', async () => {
  const env = await restoredInstallation();
  const timesBefore = await readTimes(env.DATABASE_URL);
  // The keys of buyers and cards come before, that of transactions after.
  await killWaiting(env, 'share update exclusive', 'gift_cards');
  const applied = await appliedTo(env.DATABASE_URL);
  expect(applied).toEqual(Object.keys(migrations).slice(0, applied.length));
  expect(applied.at(-1)).toBe('0014-erasure');
  const { status, stderr } = await paymentsHere(['roles', 'create', 'reader', '--allow', '*.read'], env);
  expect(status).toBe(0);
  expect(stderr).not.toMatch(/building the index (buyers|payment_methods)_/);
  expect(stderr).toContain('building the index transactions_account_first');
  expect(await appliedTo(env.DATABASE_URL)).toEqual(Object.keys(migrations));
  // Migration 0010 changes subscriptions.
  const lasting = (times: Map<string, string>) =>
    [...times].filter(([place]) => !place.startsWith('webhook_subscriptions')).sort();
  expect(lasting(await readTimes(env.DATABASE_URL))).toEqual(lasting(timesBefore));
  await rm(env.DATA_DIR, { recursive: true });
});
