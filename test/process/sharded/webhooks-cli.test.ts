// The commands for webhooks: list, create, delete, rotate, deliveries, replay, activate, deactivate, work, listen.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../support/data-dir.ts';
import { paymentsHere, typed } from '../../support/in-process.ts';
import { certificate, certificateFile } from '../../support/keys.ts';
import { freePort } from '../../support/ports.ts';
import { startPayments } from '../../support/processes.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createAccount, createTransactions } from '../../support/records.ts';
import { noSecrets as secrets, startTestService, type TestService } from '../../support/service.ts';
import { transaction } from '../../support/transactions.ts';
import { hasty, settled, storeCard, subscribe, unsubscribe, until, verify } from '../../support/webhooks.ts';

vi.setConfig({ testTimeout: 120_000 });

let service: TestService;
let env: Record<string, string | undefined>;
beforeAll(async () => {
  service = await startTestService({ config: { secrets }, webhooks: hasty });
  env = { DATABASE_URL: service.config.databaseUrl, DATA_DIR: service.config.dataDir };
});
afterAll(() => service[Symbol.asyncDispose]());

const run = (...args: string[]) => paymentsHere(['webhooks', ...args], env);
const json = async <T>(...args: string[]) => {
  const { status, stdout, stderr } = await run(...args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as T;
};
const items = async <T>(...args: string[]) => (await json<{ items: T[] }>(...args)).items;
const unknown = '00000000-0000-4000-8000-000000000000';

interface Rotated {
  id: string;
  secret: string;
  rotating: boolean;
  old_secret_until: string;
}

interface Attempt {
  event: string;
  name: string;
  record: string;
  account: string;
  subscription: string;
  state: string;
  attempt: number;
  at: string;
  status: number | null;
  ms: number;
  error: string | null;
}

it('payments webhooks rotate prints the new secret, and how long the old one stays valid; till then only --keep 0s rotates again', async () => {
  const subscription = await subscribe(service, 'http://127.0.0.1:9/', { active: false });
  const rotate = (...keep: string[]) => json<Rotated>('rotate', subscription.id, ...keep);
  const { secret, old_secret_until, ...told } = await rotate('--keep', '2h');
  expect(told).toEqual({ id: subscription.id, rotating: true });
  expect(secret).toMatch(/^whsec_/);
  expect((Date.parse(old_secret_until) - Date.now()) / 3_600_000).toBeCloseTo(2, 1);
  const { status, stderr } = await run('rotate', subscription.id);
  expect([status, stderr]).toEqual([1, expect.stringContaining(`valid until ${old_secret_until}`)]);
  expect(await rotate('--keep', '0s')).toMatchObject({ rotating: false });
  expect(await rotate()).toMatchObject({ rotating: true });
  await unsubscribe(service, subscription);
});

describe('payments webhooks deliveries, replay, activate and deactivate', () => {
  it('shows each attempt with time, status, duration and error, and replays failed deliveries', async () => {
    let isFixed = false;
    await using receiver = await startReceiver((res) => res.writeHead(isFixed ? 204 : 500).end('no\ttime'));
    const subscription = await subscribe(service, receiver.url);
    await storeCard(service);
    const { event_id } = await settled(service, subscription);
    const since = new Date(Date.now() - 60_000).toISOString();

    const attempts = await items<Attempt>('deliveries', '--subscription', subscription.id, '--json');
    expect(attempts).toHaveLength(4);
    for (const [index, attempt] of attempts.entries()) {
      const { id } = subscription;
      expect(attempt).toMatchObject({ event: event_id, name: 'payment-method.created', subscription: id });
      expect(attempt).toMatchObject({ state: 'failed', attempt: index + 1, status: 500, error: null });
      expect(attempt).toMatchObject({ answer: 'no\\ttime' });
      expect(Date.parse(attempt.at)).toBeGreaterThan(Date.parse(since));
      expect(attempt.ms).toBeGreaterThanOrEqual(0);
    }
    expect(await items('deliveries', '--event', event_id, '--json')).toEqual(attempts);
    expect(await items('deliveries', '--event', unknown, '--json')).toEqual([]);
    const { record, account } = attempts[0] ?? {};
    expect(await items('deliveries', '--record', record ?? '', '--json')).toEqual(attempts);
    expect((await run('deliveries', '--record', unknown)).stdout).toContain(
      `There is no delivery of an event about ${unknown}.`,
    );
    expect(account).toBe('default');
    const ofAccount = await items<Attempt>('deliveries', '--merchant-account', 'default', '--json');
    expect(ofAccount).toEqual(expect.arrayContaining(attempts));
    expect((await run('deliveries', '--merchant-account', 'none')).stderr).toContain(
      'no merchant account none',
    );
    const { db } = service.service.database;
    const older = { merchant_account_id: 'default', event_id, subscription_id: subscription.id };
    const { id: olderId } = await db
      .insertInto('deliveries')
      .values({ ...older, state: 'failed', created_at: new Date(0) })
      .returning('id')
      .executeTakeFirstOrThrow();
    const failed = await items<Attempt>('deliveries', '--failed', '--limit', '1', '--json');
    // The limit counts deliveries, the newest first: none is shown without its last attempt.
    expect(failed.map(({ event }) => event)).toEqual(Array.from({ length: 4 }, () => event_id));
    await db.deleteFrom('deliveries').where('id', '=', olderId).execute();
    const { stdout } = await run('deliveries', '--event', event_id, '--wide');
    expect(stdout).toMatch(
      /^event +name +record +account +subscription +state +attempt +at +status +ms +error +next_attempt\n/,
    );
    // The state is that of the delivery, so people see it once.
    expect(
      [stdout.match(/ failed /g), stdout.match(/ 500 .* no\\ttime/g)].map((found) => found?.length),
    ).toEqual([1, 4]);

    // Without --wide it fits a terminal of 100 columns, with whole IDs: no command takes a part of one.
    const narrow = (await run('deliveries', '--event', event_id)).stdout.trimEnd().split('\n');
    const ids = `  event ${event_id}  subscription ${subscription.id}`;
    const { host } = new URL(receiver.url);
    expect(narrow.slice(-3)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^failed     500  \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ  payment-method.created  ${host}$`,
        ),
      ),
      ids,
      '  attempt 4, no\\ttime',
    ]);
    expect(narrow.filter((line) => line === ids)).toHaveLength(4);
    expect(narrow.filter((line) => line.length > 100)).toEqual([]);
    for (const option of ['--event', '--subscription', '--record'])
      expect((await run('deliveries', option, event_id.slice(0, 8))).status).toBe(2);

    expect((await run('deliveries', '--event', event_id, '--body')).stdout).toBe(
      `${receiver.got[0]?.body}\n`,
    );

    // A replay gets the whole retry schedule, not one attempt.
    expect(await json('replay', event_id)).toEqual({ replayed: 1, switched_off: 0 });
    await receiver.received(8);
    await settled(service, subscription);
    expect(receiver.got).toHaveLength(8);

    const future = new Date(Date.now() + 60_000).toISOString();
    const none = await run('replay', '--failed', '--since', future);
    expect([none.status, none.stderr]).toEqual([1, expect.stringContaining('There is no failed delivery')]);
    const other = await subscribe(service, 'http://127.0.0.1:9/');
    const others = await run('replay', event_id, '--subscription', other.id);
    expect(others.stderr).toContain('There is no delivery of this event to this subscription.');
    await unsubscribe(service, other);
    isFixed = true;
    const here = ['--subscription', subscription.id];
    expect(await json('replay', '--failed', '--since', since, ...here)).toEqual({
      replayed: 1,
      switched_off: 0,
    });
    await receiver.received(9);
    expect((await settled(service, subscription)).state).toBe('succeeded');
    expect(new Set(receiver.got.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([event_id]));
    const last = await items<Attempt>('deliveries', '--event', event_id, '--json');
    expect(last.map(({ attempt, status }) => [attempt, status])).toEqual([
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((number) => [number, 500]),
      [9, 204],
    ]);
    await unsubscribe(service, subscription);
  });

  it('the history of a record has its events, their deliveries, and what operators did', async () => {
    await using receiver = await startReceiver((res) => res.writeHead(404).end('no such order'));
    const subscription = await subscribe(service, receiver.url);
    const record = await storeCard(service);
    const { event_id } = await settled(service, subscription);
    expect(await json('replay', event_id)).toMatchObject({ replayed: 1 });
    const replace = ['payment-methods', 'found-replacement', record, '--expiration-date', '12/41'];
    expect((await paymentsHere(replace, env)).status).toBe(0);
    const { stdout } = await paymentsHere(['payment-methods', 'show', '--history', record, '--json'], env);
    const { items: happened } = JSON.parse(stdout) as { items: { what: string; result: string }[] };
    expect(happened).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ what: 'created', result: 'in the account default' }),
        expect.objectContaining({ what: 'payment-method.created', result: 'succeeded', id: event_id }),
        expect.objectContaining({
          what: `attempt 4 to ${new URL(receiver.url).host}`,
          result: 'HTTP 404: no such order',
        }),
        expect.objectContaining({ what: `webhooks replay ${event_id}` }),
        expect.objectContaining({
          what: `payment-methods found-replacement ID --expiration-date …`,
          result: expect.stringMatching(/^by .+ on .+/) as string,
        }),
      ]),
    );
    expect(happened.at(-1)).toMatchObject({ what: 'status now', result: 'succeeded' });
    // The event of the replacement is delivered in vain, too.
    const { db } = service.service.database;
    const pending = db.selectFrom('deliveries').select('id').where('state', '=', 'pending');
    await until(async () => (await pending.execute()).length === 0);
    await unsubscribe(service, subscription);
  });

  it('nothing is delivered to a deactivated subscription, not even by a replay, until it is activated', async () => {
    await using receiver = await startReceiver((res, _got, nth) =>
      res.writeHead(nth === 1 ? 410 : 204).end(),
    );
    const subscription = await subscribe(service, receiver.url);
    await storeCard(service);
    const { event_id } = await settled(service, subscription);
    const listed = async () => {
      const all = await items<{ id: string; active: boolean; failing_since: string | null }>(
        'list',
        '--json',
      );
      return all.find(({ id }) => id === subscription.id);
    };
    expect(await listed()).toMatchObject({ active: false });

    const refused = await run('replay', event_id);
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringContaining('payments webhooks activate'),
    ]);
    expect(receiver.got).toHaveLength(1);

    expect(await json('activate', subscription.id)).toEqual({ id: subscription.id, active: true });
    expect(await listed()).toMatchObject({ active: true, failing_since: null });
    await json('replay', event_id);
    await receiver.received(2);
    expect((await settled(service, subscription)).state).toBe('succeeded');

    // Pending deliveries of a subscription that is switched off fail, with the reason.
    let hold: () => void = () => undefined;
    await using slow = await startReceiver((res) => {
      hold = () => res.writeHead(500).end();
    });
    const other = await subscribe(service, slow.url);
    await storeCard(service);
    await slow.received(1);
    expect(await json('deactivate', other.id)).toEqual({ id: other.id, active: false });
    hold();
    const { event_id: lost } = await settled(service, other);
    const attempts = await items<Attempt>(
      'deliveries',
      '--subscription',
      other.id,
      '--event',
      lost,
      '--json',
    );
    expect(attempts.map(({ status, error }) => error ?? status)).toEqual([
      500,
      'the subscription is switched off',
    ]);
    await unsubscribe(service, subscription);
    await unsubscribe(service, other);
  });

  it('several replays of a pending delivery begin the retry schedule once, not several times', async () => {
    await using receiver = await startReceiver((res) => res.writeHead(500).end());
    const { databaseUrl, dataDir } = service.config;
    await using idle = await startTestService({
      config: { databaseUrl, dataDir, secrets, webhookWorker: false },
    });
    await service.service.close();
    const subscription = await subscribe(idle, receiver.url);
    await storeCard(idle);
    const [{ event_id } = { event_id: '' }] = await idle.service.database.db
      .selectFrom('deliveries')
      .select('event_id')
      .where('subscription_id', '=', subscription.id)
      .execute();
    for (let times = 0; times < 5; times += 1) await json('replay', event_id);
    service = await startTestService({ config: { databaseUrl, dataDir, secrets }, webhooks: hasty });
    expect(await settled(service, subscription)).toMatchObject({ state: 'failed', attempts: 4 });
    expect(receiver.got).toHaveLength(4);
    await unsubscribe(service, subscription);
  });
});

describe('payments webhooks list', () => {
  it('names active subscriptions to whose URL nothing can be delivered, but not to programs', async () => {
    const internal = await subscribe(service, 'http://10.0.0.5/hook');
    const off = await subscribe(service, 'http://10.0.0.6/hook', { active: false });
    const fine = await subscribe(service, 'http://127.0.0.1:9/');
    const { stderr } = await run('list');
    expect(stderr).toBe(
      `Nothing can be delivered to ${internal.id}: webhooks are not delivered to internal addresses. See: docs/guides/webhooks.md\n`,
    );
    expect(await items('list', '--json')).toHaveLength(3);
    for (const one of [internal, off, fine]) await unsubscribe(service, one);
  });
});

describe('payments webhooks create and delete', () => {
  interface Created {
    id: string;
    merchant_account_id: string | null;
    url: string;
    active: boolean;
    secret: string;
  }

  it('creates a subscription as the API does, prints its secret, and deletes it with its deliveries', async () => {
    await using receiver = await startReceiver();
    const made = await json<Created>('create', receiver.url);
    expect(made).toEqual({
      ...{ id: made.id, merchant_account_id: 'default', url: receiver.url, active: true },
      secret: expect.stringMatching(/^whsec_/) as string,
    });
    await storeCard(service);
    await receiver.received(1);
    verify(made.secret, receiver.got[0]);
    await settled(service, made);
    expect((await run('delete', made.id)).stderr).toMatch(
      / for ever\? Without a terminal to ask at, add --yes\.\n$/,
    );
    const doubted = await paymentsHere(['webhooks', 'delete', made.id], env, typed('\n'));
    expect([doubted.status, doubted.stderr]).toEqual([1, expect.stringContaining('Nothing was changed.')]);
    // More than are deleted at once.
    const { db } = service.service.database;
    await sql`
      insert into deliveries (merchant_account_id, event_id, subscription_id, state)
      select 'default', gen_random_uuid(), ${made.id}::uuid, 'failed' from generate_series(1, 1000)`.execute(
      db,
    );
    expect(await json('delete', made.id, '--yes')).toEqual({ id: made.id, deleted: true });
    const left = db.selectFrom('deliveries').select('id').where('subscription_id', '=', made.id);
    expect(await left.execute()).toEqual([]);
    expect(await items('deliveries', '--subscription', made.id, '--json')).toEqual([]);
    expect((await items<{ id: string }>('list', '--json')).map(({ id }) => id)).not.toContain(made.id);
  });

  // Citus has no triggers on reference tables.
  it.skipIf(process.env.TEST_CITUS_URL)(
    'deletes also where that takes longer than other commands may: a million deliveries, and more',
    async () => {
      const { db } = service.service.database;
      const { id } = await json<Created>('create', 'http://127.0.0.1:9/', '--inactive');
      await sql`create table limits_noted (milliseconds text)`.execute(db);
      await sql`create function note_limit() returns trigger language plpgsql as $$ begin
      insert into limits_noted values (current_setting('statement_timeout')); return old; end $$`.execute(db);
      await sql`create trigger note_limit before delete on webhook_subscriptions
      for each row execute function note_limit()`.execute(db);
      await json('delete', id, '--yes');
      const { rows } = await sql`select milliseconds from limits_noted`.execute(db);
      await sql`drop function note_limit cascade`.execute(db);
      await sql`drop table limits_noted`.execute(db);
      expect(rows).toEqual([{ milliseconds: '0' }]);
    },
  );

  it('takes another account, or all, and may leave it switched off', async () => {
    const other = await json<Created>('create', 'http://127.0.0.1:9/', '--merchant-account', 'marketplace');
    expect(other.merchant_account_id).toBe('marketplace');
    const all = await json<Created>('create', 'http://127.0.0.1:9/', '--merchant-account', '*', '--inactive');
    expect(all).toMatchObject({ merchant_account_id: null, active: false });
    for (const { id } of [other, all]) await json('delete', id, '--yes');
  });

  it('the audit trail has the URL without its query, which may be a password', async () => {
    const { id } = await json<Created>('create', 'http://127.0.0.1:9/hook?token=hunter2');
    const { stdout } = await paymentsHere(['audit', '--limit', '1', '--json'], env);
    expect(stdout).toContain('http://127.0.0.1:9/hook?…');
    expect(stdout).not.toContain('hunter2');
    await json('delete', id, '--yes');
  });
});

describe('a wrong call', () => {
  const noId = /'x' is invalid.* It is not an ID/;
  const noTime = /Give a time such as/;

  it.each([
    [['rotate', unknown], 1, /There is no subscription/],
    [['rotate', 'x'], 2, noId],
    [['rotate', unknown, '--keep', 'long'], 2, /Give a number and s, m, h or d/],
    [['replay'], 2, /Give the ID of an event, --failed, or --pending/],
    [['replay', unknown, '--failed'], 2, /Give the ID of an event, --failed, or --pending/],
    [['replay', '--since', '24h'], 2, /--since needs --failed/],
    [['replay', 'x'], 2, noId],
    [['replay', unknown], 1, /There is no delivery of this event/],
    [['replay', '--failed', '--since', 'yesterday'], 2, noTime],
    [['replay', '--failed', '--subscription', unknown], 1, /no subscription/],
    [['deliveries', '--event', 'x'], 2, noId],
    [['deliveries', '--event', unknown, '--body'], 1, /There is no delivery of the event/],
    [['deliveries', '--body'], 2, /--body needs --event/],
    [['deliveries', '--limit', 'x'], 2, /Give a number from/],
    [['activate', unknown], 1, /There is no subscription/],
    [['listen', '--port', '70000'], 2, /Give a number from 0 to 65535/],
    [['listen', '--merchant-account', 'none'], 1, /There is no merchant account none/],
    [['create', 'shop.example/hook'], 2, /^The URL must /],
    [['create', 'https://user:hunter2@shop.example/'], 2, /^The URL must /],
    [['create', 'https://shop.example/', '--merchant-account', 'nobody'], 1, /no merchant account nobody/],
    [['delete', unknown], 1, /There is no subscription/],
  ])('%j is refused with exit code %i', async (args, exitCode, reason) => {
    const { status, stdout, stderr } = await run(...args);
    expect([status, stdout]).toEqual([exitCode, '']);
    expect(stderr).toMatch(reason);
    expect(stderr).not.toContain('hunter2');
  });
});

describe('50 active subscriptions of an account', () => {
  it('are the most also for `activate` and `listen`; one that is active can be activated again', async () => {
    const { db } = service.service.database;
    const account = 'limits';
    await createAccount(db, { id: account, display_name: 'Limits' });
    const { rows } = await sql<{ id: string }>`
      insert into webhook_subscriptions (merchant_account_id, active, url, secret_sealed)
      select ${account}, number <= 50, 'https://shop.example/', 'sealed' from generate_series(1, 51) as number
      returning id`.execute(db);
    const [first = '', last = ''] = [rows[0]?.id, rows[50]?.id];
    const sentence =
      'There may be at most 50 active webhook subscriptions of merchant account limits. Switch one off first.\n';
    for (const args of [
      ['activate', last],
      ['listen', '--merchant-account', account],
    ]) {
      const { status, stderr } = await run(...args);
      expect({ status, stderr }).toEqual({ status: 1, stderr: sentence });
    }
    expect(await json('activate', first)).toEqual({ id: first, active: true });
    await json('deactivate', first);
    expect(await json('activate', last)).toEqual({ id: last, active: true });
    expect((await run('activate', first)).status).toBe(1);
  });
});

/** A `payments …` command that runs until it is stopped. */
function startLong(args: string[], more: Record<string, string> = {}) {
  const child = startPayments(args, { ...env, ...more });
  const stop = async () => {
    child.process.kill('SIGINT');
    return (await child.ended).status;
  };
  const kill = async () => {
    child.process.kill('SIGKILL');
    await child.ended;
  };
  const said = (what: string) => eventually(() => child.output().includes(what), what);
  return { said, stop, kill, output: child.stdout };
}

describe('payments webhooks work', () => {
  it('delivers the events of a server without a worker, also over TLS, and stops cleanly', async () => {
    await using receiver = await startReceiver(undefined, certificate);
    const { databaseUrl, dataDir } = service.config;
    // The worker of the other tests would deliver these events too.
    await service.service.close();
    await using idle = await startTestService({
      config: { databaseUrl, dataDir, secrets, webhookWorker: false },
    });
    const subscription = await subscribe(idle, receiver.url);
    for (let made = 0; made < 12; made += 1) await storeCard(idle);
    const metricsPort = await freePort();
    const worker = startLong(['webhooks', 'work'], {
      NODE_EXTRA_CA_CERTS: certificateFile,
      METRICS_PORT: String(metricsPort),
    });
    await receiver.received(12);
    const pending = idle.service.database.db
      .selectFrom('deliveries')
      .select('id')
      .where('state', '=', 'pending');
    await until(async () => (await pending.execute()).length === 0);
    const scraped = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(await worker.stop()).toBe(0);
    // Where services run without a worker, alerts may look at this one alone: it shows the numbers of all tables.
    expect([...scraped.matchAll(/^(payments_(?:cards|webhook)_\w+)[ {]/gm)].map(([, name]) => name)).toEqual(
      expect.arrayContaining([
        'payments_webhook_queue',
        'payments_webhook_oldest_event_seconds',
        'payments_cards_processing',
        'payments_cards_processing_oldest_seconds',
      ]),
    );
    expect(worker.output()).toContain('webhook succeeded');
    expect(worker.output()).not.toContain('could not be handled');
    const ids = receiver.got.map((got) => verify(subscription.secret, got).id);
    expect(ids).toHaveLength(12);
    expect(new Set(ids).size).toBe(12);
    await unsubscribe(idle, subscription);
    service = await startTestService({ config: { databaseUrl, dataDir, secrets }, webhooks: hasty });
  });
});

describe('payments webhooks listen', () => {
  it('subscribes itself, prints each event and whether its signature is valid, and unsubscribes at the end', async () => {
    const listener = startLong(['webhooks', 'listen']);
    await listener.said('To cause an event');
    const url = /Listening on (\S+) for events of default/.exec(listener.output())?.[1] ?? '';
    const id = await storeCard(service);
    await listener.said('"type": "event"');
    expect(listener.output()).toMatch(
      new RegExp(`✓ signature  \\S+  payment-method.created  ${id}  succeeded\\n`),
    );
    const forged = await fetch(url, { method: 'POST', body: '{}', headers: { 'webhook-id': 'x' } });
    expect(forged.status).toBe(400);
    await listener.said('✗ signature');
    expect(await listener.stop()).toBe(0);
    const { stdout } = await run('list');
    expect(stdout).not.toContain(url);
    const { items: entries } = JSON.parse(
      (await paymentsHere(['audit', '--search', 'webhooks listen', '--json'], env)).stdout,
    ) as { items: { command: string; created: string }[] };
    // It made the subscription, and deleted it.
    expect(entries.map(({ command, created }) => command.replace(created, 'ID'))).toEqual([
      'webhooks listen # ID',
      'webhooks listen # ID',
    ]);
  });

  it('prints commands for this sandbox: its folder, and the address at which it runs', async () => {
    const listener = startLong(['webhooks', 'listen']);
    await listener.said('To cause an event');
    const { dataDir } = service.config;
    expect(listener.output()).toContain(`  DATA_DIR=${dataDir} npm run -s payments -- webhooks trigger `);
    expect(listener.output()).toContain(`$(DATA_DIR=${dataDir} npm run -s payments -- token `);
    expect(listener.output()).toContain(`curl -X POST ${service.url}/payment-methods`);
    expect(await listener.stop()).toBe(0);
  });

  it('hands each event on as it came, and prints and returns what the receiver there answers', async () => {
    await using receiver = await startReceiver((res, _got, nth) =>
      res.writeHead(nth === 1 ? 503 : 204).end(nth === 1 ? 'not\u001b yet' : undefined),
    );
    const listener = startLong(['webhooks', 'listen', '--forward-to', receiver.url]);
    await listener.said('To cause an event');
    const [secret = ''] = /whsec_\S+/.exec(listener.output()) ?? [];
    const id = await storeCard(service);
    await listener.said('✓ receiver   204');
    expect(listener.output()).toMatch(/✗ receiver {3}503: not\\u001b yet {2}\d+ ms\n/);
    // The service repeats what the receiver refused, with the same ID and a signature that is valid.
    const events = receiver.got.map((got) => verify(secret, got));
    expect(events.map(({ name, target }) => `${name} ${target.id}`)).toEqual(
      Array(2).fill(`payment-method.created ${id}`),
    );
    const [first, second] = receiver.got;
    expect(first?.headers['webhook-id']).toBe(second?.headers['webhook-id']);
    expect(first?.headers['content-type']).toContain('application/json');
    expect(await listener.stop()).toBe(0);
  });

  it('says when nobody answers there, and takes no other URL', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}/`;
    const listener = startLong(['webhooks', 'listen', '--forward-to', nobody]);
    await listener.said('To cause an event');
    await storeCard(service);
    await listener.said('✗ receiver   no answer: connect ECONNREFUSED');
    expect(await listener.stop()).toBe(0);
    for (const url of ['localhost:3000', 'ftp://x/', 'http://', 'https://u:hunter2@']) {
      const { status, stderr } = await run('listen', '--forward-to', url);
      expect({ status, stderr }).toEqual({
        status: 2,
        stderr: '--forward-to needs a URL such as http://localhost:3000/hook.\n',
      });
    }
  });

  it('removes the subscription of one that was killed, and no other', async () => {
    const urlOf = async (listener: ReturnType<typeof startLong>) => {
      await listener.said('To cause an event');
      return /Listening on (\S+) /.exec(listener.output())?.[1] ?? '';
    };
    const [killed, living] = [startLong(['webhooks', 'listen']), startLong(['webhooks', 'listen'])];
    const [ofKilled, ofLiving] = [await urlOf(killed), await urlOf(living)];
    const own = await subscribe(service, 'http://127.0.0.1:9/payments-webhooks-listen/own', {
      active: false,
    });
    await killed.kill();
    expect((await run('list')).stdout).toContain(ofKilled);
    const next = startLong(['webhooks', 'listen']);
    const ofNext = await urlOf(next);
    const { stdout } = await run('list');
    expect(
      [ofKilled, ofLiving, own.id, ofNext].map(
        (text) => stdout.includes(`${text} `) || stdout.includes(`${text}\n`),
      ),
    ).toEqual([false, true, true, true]);
    for (const { stop } of [living, next]) expect(await stop()).toBe(0);
    await unsubscribe(service, own);
  });
});

describe('every change sends its event', () => {
  it('whether the API, the approval page or the command line made it', async () => {
    await using receiver = await startReceiver();
    const subscription = await subscribe(service, receiver.url);
    const create = async (number: string) => {
      const { body } = await service.call('POST', '/payment-methods', {
        token: service.token('*.write'),
        body: { method: 'card', number, expiration_date: '12/39' },
      });
      return body as { id: string; approval_url: string };
    };
    const move = async (...args: string[]) => {
      const { status, stderr } = await paymentsHere(args, env);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    };
    const slow = await create('4012888888881881');
    await move('payment-methods', 'move', slow.id, 'failed');
    const approved = await create('5105105105105100');
    const decision = new URLSearchParams({ decision: 'approve' });
    expect((await fetch(approved.approval_url, { method: 'POST', body: decision })).status).toBe(200);
    const paid = transaction({ merchant_account_id: 'default', status: 'processing' });
    await createTransactions(service.service.database.db, [paid]);
    await move('transactions', 'move', paid.id, 'authorization_succeeded');

    await receiver.received(5);
    const told = receiver.got.map((got) => {
      const { name, target } = verify(subscription.secret, got);
      return [name, target.id, (target as { status?: string }).status].join(' ');
    });
    expect(told.sort()).toEqual(
      [
        `payment-method.created ${slow.id} processing`,
        `payment-method.updated ${slow.id} failed`,
        `payment-method.created ${approved.id} buyer_approval_required`,
        `payment-method.updated ${approved.id} succeeded`,
        `transaction.updated ${paid.id} authorization_succeeded`,
      ].sort(),
    );
    await unsubscribe(service, subscription);
  });
});

describe('payments webhooks deliveries --follow', () => {
  it('shows each attempt when it has ended, to programs as one line of JSON', async () => {
    await using receiver = await startReceiver((res, _got, nth) =>
      res.writeHead(nth === 2 ? 500 : 204).end(),
    );
    const subscription = await subscribe(service, receiver.url);
    await storeCard(service);
    await settled(service, subscription);
    const follow = ['webhooks', 'deliveries', '--follow', '--subscription', subscription.id];
    const [forPeople, forPrograms] = [startLong(follow), startLong([...follow, '--json'])];
    const unread = startPayments(follow, env);
    await eventually(() => unread.output().includes('Press Ctrl-C'), 'it waits');
    unread.process.stdout.destroy();
    for (const { said } of [forPeople, forPrograms]) await said('Press Ctrl-C');
    const record = await storeCard(service);
    await forPeople.said('  attempt 2\n');
    await forPrograms.said('"attempt":2');
    for (const { stop } of [forPeople, forPrograms]) expect(await stop()).toBe(0);
    const [first = '', second] = forPrograms.output().trimEnd().split('\n');
    expect(JSON.parse(first)).toMatchObject({
      record,
      subscription: subscription.id,
      attempt: 1,
      status: 500,
    });
    expect(JSON.parse(second ?? '')).toMatchObject({ record, attempt: 2, status: 204, state: 'succeeded' });
    const line = /^\w+ +(500|204) +\S+Z +payment-method\.created +127\.0\.0\.1:\d+$/gm;
    expect(forPeople.output().match(line)).toHaveLength(2);
    expect(forPeople.output()).toContain(`  subscription ${subscription.id}\n`);
    expect((await unread.ended).status).toBe(0);
    await unsubscribe(service, subscription);
  });
});
