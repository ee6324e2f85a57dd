// A rolling upgrade: version 1.0.1 serves while this one migrates the database, then both serve, then only this one. With
// UPGRADE_ROWS=1000000 the database has so many transactions, and the locks that requests waited for are printed. Seeding takes
// half an hour, so UPGRADE_TEMPLATE may name a database of TEST_DATABASE_URL that was seeded before; it is copied.
import { rm } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { signToken } from '../../server/domain/token.ts';
import { unpackOldVersion, type OldVersion } from '../support/old-version.ts';
import { createEmptyDatabase, withClient } from '../support/database.ts';
import { createPayments, startNode, startServer, type Env, type Server } from '../support/processes.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { watchLocks } from '../support/upgrade-locks.ts';
import { createUpgradeDataDir, keyOf, readFixture, restoreFixture } from '../support/upgrade.ts';
import { until, verify } from '../support/webhooks.ts';

const rows = Number(process.env.UPGRADE_ROWS ?? 0);
const template = process.env.UPGRADE_TEMPLATE;
vi.setConfig({ testTimeout: rows > 0 ? 3_600_000 : 180_000 });

interface Page {
  items: { id: string }[];
  next_cursor: string | null;
}

let old: OldVersion | undefined;
let receiver: Receiver;
let dataDir: string;
let databaseUrl: string;
let environment: Env;
let token: string;
const servers: Server[] = [];

beforeAll(async () => {
  old = await unpackOldVersion();
  const fixture = await readFixture();
  receiver = await startReceiver();
  databaseUrl = template
    ? await createEmptyDatabase(template)
    : await restoreFixture(new URL(receiver.url).origin);
  dataDir = await createUpgradeDataDir(fixture);
  environment = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, PORT: '0' };
  const key = fixture.keys.find(({ name }) => name === 'Sandbox')?.private_key ?? '';
  token = signToken(keyOf(key), ['*.read', '*.write'], 36_000);
  // What the fixture has to deliver is the subject of upgrade.test.ts.
  await withClient(databaseUrl, async (client) => {
    await client.query('delete from webhook_subscriptions');
  });
});
afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true });
  await old?.[Symbol.asyncDispose]();
});

async function start(env: Record<string, string>, folder?: string): Promise<Server> {
  const server = await startServer({ ...environment, ...env }, folder);
  servers.push(server);
  return server;
}

async function call(server: Server, method: string, path: string, body?: object, extra: object = {}) {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body ? { 'Content-Type': 'application/json' } : {}),
      ...extra,
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  return { status: response.status, answer, replayed: response.headers.get('idempotency-replayed') };
}

/** Pages through a list, with each page from the next of these instances. */
async function walk(path: string, instances: readonly Server[]): Promise<(string | number)[]> {
  const ids: string[] = [];
  let cursor = '';
  for (let page = 0; page < 20; page++) {
    const server = instances[page % instances.length] as Server;
    const { status, answer } = await call(server, 'GET', `${path}${cursor}`);
    if (status !== 200) return [status];
    const { items, next_cursor: next } = answer as unknown as Page;
    ids.push(...items.map(({ id }) => id));
    if (next === null) break;
    cursor = `&cursor=${next}`;
  }
  return ids;
}

const card = { method: 'card', number: '4111111111111111', expiration_date: '12/39' };
const giftCards = { items: [{ id: '356d56e5-fe16-42ae-97ee-8d55d846ae2e' }] };

/** Sends requests to an instance until it is told to stop. Counts the statuses and keeps the IDs of stored cards. */
function startTraffic(server: Server) {
  const statuses = new Map<string, number>();
  const cards: string[] = [];
  let slowest = 0;
  let over = false;
  const repeat = async (name: string, method: string, path: string, body?: object) => {
    while (!over) {
      const begun = performance.now();
      const { status, answer } = await call(server, method, path, body);
      slowest = Math.max(slowest, performance.now() - begun);
      statuses.set(`${name} ${status}`, (statuses.get(`${name} ${status}`) ?? 0) + 1);
      if (name === 'card' && status === 201) cards.push(String(answer.id));
      await wait(50);
    }
  };
  const running = Promise.all([
    repeat('card', 'POST', '/payment-methods', card),
    repeat('balance', 'POST', '/gift-cards/balances', giftCards),
    repeat('transactions', 'GET', '/transactions?limit=50'),
    repeat('subscriptions', 'GET', '/webhook-subscriptions?limit=50'),
  ]);
  // A failed assertion ends the test and the servers; the requests under way then fail, and nobody waits for them.
  running.catch(() => undefined);
  return {
    /** Resolves when so many cards are stored. */
    stored: (number: number) => until(() => Promise.resolve(cards.length >= number)),
    async stop() {
      over = true;
      await running;
      return { cards, slowest, statuses: [...statuses.keys()].sort() };
    },
  };
}

const served = ['balance 200', 'card 201', 'subscriptions 200', 'transactions 200'];

it('both versions serve on one database, and every event is delivered once', async ({ skip }) => {
  if (!old) return skip('the history of git, which has the code of version 1.0.1, is missing');
  const before = await start({}, old.folder);
  if (rows > 0 && !template) await seed(old.folder);
  const subscribe = async (server: Server, path: string) => {
    const body = { url: new URL(path, receiver.url).href };
    return String((await call(server, 'POST', '/webhook-subscriptions', body)).answer.secret);
  };
  const secrets = { '/by-old': await subscribe(before, '/by-old'), '/by-new': '' };

  // The old version serves while the new one migrates, which then serves beside it. Only the old one delivers.
  const locks = await watchLocks(databaseUrl);
  const begun = performance.now();
  const during = startTraffic(before);
  const after = await start({ WEBHOOK_WORKER: 'off' });
  const migrated = performance.now() - begun;
  const held = await locks.stop();
  const migrating = await during.stop();
  expect(migrating.statuses).toEqual(served);
  if (rows > 0) console.log({ rows, migrated, slowest: migrating.slowest, held });

  secrets['/by-new'] = await subscribe(after, '/by-new');
  const traffic = [startTraffic(before), startTraffic(after)];

  const list = '/transactions?limit=100';
  const alone = await walk(list, [before]);
  expect(alone.length).toBeGreaterThan(200);
  expect(await walk(list, [before, after])).toEqual(alone);
  expect(await walk(list, [after, before])).toEqual(alone);
  const filtered = `${list}&status=authorization_declined&status=capture_succeeded`;
  expect(await walk(filtered, [before, after, after])).toEqual(await walk(filtered, [after]));

  // Only the new version knows the header; the old one ignores it.
  const keyed = (server: Server) =>
    call(server, 'POST', '/payment-methods', card, { 'Idempotency-Key': 'across versions' });
  const answers = [await keyed(before), await keyed(after), await keyed(after)];
  expect(answers.map(({ status, replayed }) => [status, replayed])).toEqual([
    [201, null],
    [201, 'false'],
    [201, 'true'],
  ]);
  const keyedCards = [...new Set(answers.map(({ answer }) => String(answer.id)))];
  expect(keyedCards).toHaveLength(2);

  // Nothing may be written yet that the old version cannot read.
  expect(await createPayments(environment)(['secrets', 'rotate'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('An instance of a version before 1.2 uses the database') as string,
  });

  const sideBySide = await Promise.all(traffic.map((one) => one.stop()));
  for (const { statuses } of sideBySide) expect(statuses).toEqual(served);

  // A second new instance delivers too. The old one stops during traffic, as in every rolling upgrade.
  const last = await start({});
  const more = startTraffic(after);
  const left = startTraffic(before);
  await left.stored(10);
  const toTheEnd = await left.stop();
  await before.stop();
  const onlyNew = await more.stop();
  expect([toTheEnd.statuses, onlyNew.statuses]).toEqual([served, served]);

  const stored = [migrating, ...sideBySide, toTheEnd, onlyNew].flatMap(({ cards }) => cards);
  const due = await withClient(databaseUrl, async (client) => {
    const { rows: found } = await client.query<{ due: string; card: string }>(
      `select regexp_replace(url, '^.*/', '/') || ' ' || event_id as due, body::json -> 'target' ->> 'id' as card
       from deliveries join events on events.id = event_id
       join webhook_subscriptions as subscription on subscription.id = subscription_id`,
    );
    return found;
  });
  expect([...new Set(due.map((one) => one.card))].sort()).toEqual([...stored, ...keyedCards].sort());
  await until(() => Promise.resolve(receiver.got.length >= due.length));
  await until(() =>
    withClient(databaseUrl, async (client) => {
      const { rowCount } = await client.query(`select from deliveries where state = 'pending'`);
      return rowCount === 0;
    }),
  );
  const got = receiver.got.map(({ path, headers }) => `${path} ${String(headers['webhook-id'])}`);
  expect(got.sort()).toEqual(due.map((one) => one.due).sort());
  for (const one of receiver.got) verify(secrets[one.path as keyof typeof secrets], one);
  expect(last.output()).not.toContain('"level":50');

  // Version 1.0.1 refuses migrations that it does not know. Whoever still runs it keeps running, but cannot be restarted.
  const restarted = startNode('server/main.ts', [], { env: environment, cwd: old.folder });
  expect(await restarted.ended).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('0007-replacement-found-at is missing') as string,
  });
});

/** Transactions by the command line of the old version; cards and events as copies, a quarter of that number each. */
async function seed(folder: string): Promise<void> {
  const args = ['seed', '--seed', '2', '--transactions', String(rows)];
  const { status, stderr } = await startNode('server/cli/main.ts', args, { env: environment, cwd: folder })
    .ended;
  expect([status, stderr]).toEqual([0, '']);
  await withClient(databaseUrl, async (client) => {
    const columns =
      'merchant_account_id, status, scheme, bin, expiration_date, label, fingerprint, number_sealed';
    await client.query(`
      insert into payment_methods (${columns}) select ${columns}
      from (select * from payment_methods where number_sealed is not null limit 5) as card,
        generate_series(1, ${Math.floor(rows / 20)})`);
    await client.query(`
      insert into events select gen_random_uuid(), name, merchant_account_id, body, created_at
      from (select * from events limit 5) as event, generate_series(1, ${Math.floor(rows / 20)})`);
    await client.query('analyze');
  });
}
