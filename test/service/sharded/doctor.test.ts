// `payments doctor`: silent about healthy data, and finds each kind of damage.
import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Database } from '../../../server/kit/database/database.ts';
import type { Finding } from '../../../server/kit/maintenance/doctor.ts';
import { cards } from '../../../server/sandbox/sample-records.ts';
import { openTestDatabase } from '../../support/database.ts';
import { paymentsHere } from '../../support/in-process.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { storeCard, subscribe, settled, hasty } from '../../support/webhooks.ts';

let service: TestService;
let receiver: Receiver;
let database: Database;
beforeAll(async () => {
  service = await startTestService({ webhooks: hasty });
  receiver = await startReceiver();
  const subscription = await subscribe(service, receiver.url);
  await storeCard(service);
  await settled(service, subscription);
  // A running worker would complete the job that is put in the queue below.
  await service.service.close();
  database = openTestDatabase(service.config.databaseUrl ?? '');
});
afterAll(async () => {
  await database.close();
  await service[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const db = () => database.db;
const environment = () => ({
  DATABASE_URL: service.config.databaseUrl,
  DATA_DIR: service.config.dataDir,
});
const doctor = (...options: string[]) => paymentsHere(['doctor', ...options], environment());
const findings = async () => (JSON.parse((await doctor('--json')).stdout) as { items: Finding[] }).items;
const broken = async () => (await findings()).filter((finding) => finding.broken > 0);

it('has nothing to say of a sandbox with deliveries', async () => {
  expect(await broken()).toEqual([]);
  // Each check has a damage below that it finds.
  expect(await findings()).toHaveLength(new Set(damages.map(([check]) => check)).size);
  const { status, stdout } = await doctor();
  expect(status).toBe(0);
  expect(stdout).toMatch(/^✓ usage counters of cards match their transactions$/m);
  expect(stdout).toMatch(/\nAll \d+ checks passed\.\n$/);
  expect(stdout).toMatch(/^- the keys of CARD_KEY, the first for what is new: [0-9a-f]{8}$/m);
  expect(stdout).toMatch(/^- the keys of CURSOR_KEY, the first for what is new: [0-9a-f]{8}$/m);
});

it.each([
  ['ahead of', 4 * 86_400],
  ['behind', -40 * 86_400],
])('notes a clock that is %s that of the database, which is no fault of the data', async (side, seconds) => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1000 * seconds });
  const { status, stdout } = await doctor().finally(() => vi.useRealTimers());
  expect(stdout).toMatch(
    new RegExp(`^- the clock of this machine is \\d+ s ${side} that of the database`, 'm'),
  );
  expect(status).toBe(0);
});

it('notes a schema of a newer version', async () => {
  await sql`insert into applied_migrations (name, digest) values ('9998-later', '')`.execute(db());
  const { status, stdout } = await doctor();
  await sql`delete from applied_migrations where name = '9998-later'`.execute(db());
  expect(stdout).toMatch(/^- a newer version than this one has migrated the database \(9998-later\): use/m);
  expect(status).toBe(0);
  expect((await doctor()).stdout).not.toContain('newer version');
});

it('notes cards that wait for their verification since an hour, and no others', async () => {
  // The sample data has one, too, as old as the copied database.
  const age = (hours: number) =>
    sql`update payment_methods set created_at = now() - make_interval(hours => ${hours}) where status = 'processing'`.execute(
      db(),
    );
  await sql`update payment_methods set status = 'processing' where id = ${card}`.execute(db());
  await age(26);
  const { status, stdout } = await doctor();
  await age(0);
  const { stdout: young } = await doctor();
  await sql`update payment_methods set status = 'succeeded' where id = ${card}`.execute(db());
  expect(stdout).toMatch(
    /^- \d+ cards? in processing, the oldest for 26 hours: .* payments payment-methods verify --processing$/m,
  );
  expect(status).toBe(0);
  expect(young).not.toContain('in processing');
});

it('has nothing to say of an event that was triggered for one subscription', async () => {
  const run = async <T>(...args: string[]): Promise<T> =>
    JSON.parse((await paymentsHere(['webhooks', ...args], environment())).stdout) as T;
  const [chosen, beside] = [
    await run<{ id: string }>('create', receiver.url),
    await run<{ id: string }>('create', receiver.url, '--merchant-account', '*'),
  ];
  // The check leaves a minute for what was under way at that time, so they miss only what comes from now on.
  const { rows } = await sql<{
    at: Date;
  }>`select max(created_at) - interval '1 minute' as at from events`.execute(db());
  await db()
    .updateTable('webhook_subscriptions')
    .set({ created_at: rows[0]?.at, updated_at: rows[0]?.at })
    .where('id', 'in', [chosen.id, beside.id])
    .execute();
  const { event } = await run<{ event: string }>(
    ...['trigger', '--subscription', chosen.id, 'transaction.updated'],
  );
  expect(await broken()).toEqual([]);
  // Unlike one that is for all of them.
  await sql`update events set is_for_all = true where id = ${event}`.execute(db());
  const found = await broken();
  await sql`delete from deliveries where event_id = ${event}`.execute(db());
  await sql`delete from events where id = ${event}`.execute(db());
  for (const { id } of [chosen, beside]) await run('delete', id, '--yes');
  expect(found).toMatchObject([{ examples: [event] }]);
});

it('has nothing to say of an event from while a subscription was switched off', async () => {
  const id = randomUUID();
  await sql`insert into webhook_subscriptions (id, merchant_account_id, active, url, secret_sealed, created_at, updated_at)
    select ${id}::uuid, merchant_account_id, false, url, '', at, at
    from webhook_subscriptions, (select min(created_at) - interval '1 hour' as at from events) as earlier
    limit 1`.execute(db());
  const events = 'events have a delivery to each subscription that was active throughout';
  const missed = async () => (await findings()).find(({ check }) => check === events)?.broken;
  const whileInactive = await missed();
  // An active one would have missed them.
  await sql`update webhook_subscriptions set active = true where id = ${id}`.execute(db());
  const whileActive = await missed();
  await sql`delete from webhook_subscriptions where id = ${id}`.execute(db());
  expect([whileInactive, whileActive]).toEqual([0, 1]);
});

it('names the receivers that fail, and those switched off for that, which is no fault of the data, although deliveries are late', async () => {
  const { id } = await db().selectFrom('webhook_subscriptions').select('id').executeTakeFirstOrThrow();
  const { host } = new URL(receiver.url);
  const named = `${id} \\(${host}, since 2026-11-02T10:00:00Z\\)`;
  const set = (active: boolean) =>
    sql`update webhook_subscriptions set failing_since = '2026-11-02T10:00:00Z', active = ${active}`.execute(
      db(),
    );
  await set(true);
  await sql`update deliveries set state = 'pending', due_at = now() - interval '1 hour'`.execute(db());
  const { status, stdout } = await doctor();
  expect(status).toBe(0);
  expect(stdout).toMatch(
    new RegExp(
      `^- 1 webhook subscription failing: ${named}\\. Why: .*payments webhooks deliveries --subscription ID$`,
      'm',
    ),
  );
  await set(false);
  await sql`update deliveries set state = 'failed'`.execute(db());
  expect((await doctor()).stdout).toMatch(
    new RegExp(
      `^- 1 webhook subscription switched off because of failures: ${named}\\. After .*activate ID$`,
      'm',
    ),
  );
  await sql`update webhook_subscriptions set failing_since = null, active = true`.execute(db());
  await sql`update deliveries set state = 'succeeded', due_at = now()`.execute(db());
  expect((await doctor()).stdout).not.toContain('fail');
});

it('names five receivers that fail, and counts the others', async () => {
  const { url, secret_sealed } = await db()
    .selectFrom('webhook_subscriptions')
    .select(['url', 'secret_sealed'])
    .executeTakeFirstOrThrow();
  const failing = {
    merchant_account_id: 'default',
    active: true,
    url,
    secret_sealed,
    failing_since: new Date(),
  };
  await db().insertInto('webhook_subscriptions').values(Array<typeof failing>(7).fill(failing)).execute();
  const { stdout } = await doctor();
  await sql`delete from webhook_subscriptions where failing_since is not null`.execute(db());
  const [line = ''] = /^- 7 webhook subscriptions failing: .*$/m.exec(stdout) ?? [];
  expect(line.match(/[0-9a-f-]{36}/g)).toHaveLength(5);
  expect(line).toContain(' and 2 more. Why: ');
});

const card = cards[0]?.id ?? '';
/** As other rows, because Citus never updates the account of one. */
const moveTo = (account: string): string =>
  ['events', 'deliveries', 'delivery_attempts']
    .flatMap((table) => [
      `create table moved as select * from ${table}`,
      `update moved set merchant_account_id = '${account}'`,
      `delete from ${table}`,
      `insert into ${table} select * from moved`,
      'drop table moved',
    ])
    .join(';');
const damages: [check: string, damage: string, repair: string][] = [
  [
    'events have a delivery to each subscription that was active throughout',
    `insert into events values ('${randomUUID()}', 'transaction.created', 'default', '{}', now() + interval '1 hour')`,
    `delete from events where body = '{}'`,
  ],
  [
    'usage counters of cards match their transactions',
    `update payment_methods set usage_count = usage_count + 1 where id = '${card}'`,
    `update payment_methods set usage_count = usage_count - 1 where id = '${card}'`,
  ],
  [
    'usage counters of cards match their transactions',
    `update payment_methods set cit_usage_count = cit_usage_count + 1 where id = '${card}'`,
    `update payment_methods set cit_usage_count = cit_usage_count - 1 where id = '${card}'`,
  ],
  [
    'cards that can be used have a number',
    `update payment_methods set redirect_url = number_sealed, number_sealed = null where id = '${card}'`,
    `update payment_methods set number_sealed = redirect_url, redirect_url = null where id = '${card}'`,
  ],
  [
    'what filters look for matches the transaction',
    `update transactions set has_settlements = not has_settlements where external_identifier = 'order-9001'`,
    `update transactions set has_settlements = not has_settlements where external_identifier = 'order-9001'`,
  ],
  ...['buyer_external_identifier', 'payment_method_label'].map((column): (typeof damages)[number] => [
    'what filters look for matches the transaction',
    `update transactions set ${column} = 'x' || ${column} where external_identifier = 'order-9001'`,
    `update transactions set ${column} = substr(${column}, 2) where external_identifier = 'order-9001'`,
  ]),
  [
    'what filters look for matches the transaction',
    `update transactions set has_gift_card_redemptions = not has_gift_card_redemptions where external_identifier = 'order-9001'`,
    `update transactions set has_gift_card_redemptions = not has_gift_card_redemptions where external_identifier = 'order-9001'`,
  ],
  [
    'attempts of deliveries are counted',
    `update deliveries set attempts = attempts + 1`,
    `update deliveries set attempts = attempts - 1`,
  ],
  [
    'deliveries that succeeded have an attempt that did',
    `update delivery_attempts set status = 500`,
    `update delivery_attempts set status = 204`,
  ],
  [
    'deliveries that succeeded have an attempt that did',
    `update delivery_attempts set status = 302`,
    `update delivery_attempts set status = 204`,
  ],
  [
    'no delivery is overdue by more than ten minutes',
    `update deliveries set state = 'pending', due_at = now() - interval '1 hour'`,
    `update deliveries set state = 'succeeded', due_at = now()`,
  ],
  // A failing subscription may be late, but it is tried again and again.
  [
    'no delivery is overdue by more than ten minutes',
    `update deliveries set state = 'pending', due_at = now() - interval '1 hour';
      update delivery_attempts set at = now() - interval '1 hour';
      update webhook_subscriptions set failing_since = now()`,
    `update deliveries set state = 'succeeded', due_at = now();
      update delivery_attempts set at = now();
      update webhook_subscriptions set failing_since = null`,
  ],
  ['deliveries go to subscriptions of their own merchant account', moveTo('marketplace'), moveTo('default')],
  // To another ID, and back.
  [
    'deliveries have their event',
    `update deliveries set event_id = reverse(replace(event_id::text, '-', ''))::uuid`,
    `update deliveries set event_id = reverse(replace(event_id::text, '-', ''))::uuid`,
  ],
  [
    'everything that is sealed can be opened',
    `update gift_cards set pin_sealed = overlay(pin_sealed placing 'AAAA' from 20)`,
    `delete from gift_cards`,
  ],
];

const runAll = async (statements: string) => {
  for (const statement of statements.split(';')) await sql.raw(statement).execute(db());
};

describe('finds', () => {
  it('a key that a value needs and that is missing, and names it', async () => {
    const [right] = (
      await sql<{ key: string }>`select split_part(number_sealed, '.', 1) as key from payment_methods
        where id = ${card}`.execute(db())
    ).rows;
    const replaceKey = (key = '') =>
      sql`update payment_methods set number_sealed = regexp_replace(number_sealed, '^[^.]*', ${key})
        where id = ${card}`.execute(db());
    await replaceKey('0badc0de');
    const found = await broken();
    await replaceKey(right?.key);
    expect(found).toMatchObject([
      { broken: 1, note: 'they need key 0badc0de: add it to CARD_KEY (or CARD_KEY_FILE)' },
    ]);
  });

  it.each(damages)('%s', async (check, damage, repair) => {
    await runAll(damage);
    const found = await broken();
    await runAll(repair);
    expect(found.map((finding) => finding.check)).toEqual([check]);
    expect(found[0]?.examples.length).toBeGreaterThan(0);
  });

  it('a transaction that 1.0.0 imported as updated before it was created', async () => {
    // Calculated in UTC, because Citus refuses what depends on the time zone of the session.
    const move = (by: string) =>
      sql`update transactions
        set updated_at = (created_at at time zone 'UTC' - ${by}::interval) at time zone 'UTC'
        where external_identifier = 'order-9001'`.execute(db());
    await move('1 ms');
    const found = await broken();
    await move('0');
    expect(found).toMatchObject([{ check: 'what filters look for matches the transaction' }]);
    expect(found[0]?.examples.length).toBeGreaterThan(0);
  });

  it('and ends with 1, naming some', async () => {
    await sql.raw(damages[1]?.[1] ?? '').execute(db());
    const { status, stdout } = await doctor();
    expect(status).toBe(1);
    expect(stdout).toContain(
      `✗ usage counters of cards match their transactions: 1 does not, for example ${card}`,
    );
    expect(stdout).toMatch(/\n1 of \d+ checks failed\.\n$/);
  });
});

describe('creates nothing', () => {
  const inEmptyFolder = async (env: Record<string, string | undefined>, files: string[] = []) => {
    const folder = await mkdtemp(join(tmpdir(), 'doctor-'));
    for (const file of files) await cp(join(service.config.dataDir, file), join(folder, file));
    try {
      const ended = await paymentsHere(['doctor'], { ...env, DATA_DIR: folder });
      return { ...ended, folder, left: await readdir(folder) };
    } finally {
      await rm(folder, { recursive: true });
    }
  };

  it('where the secrets are missing, and names them', async () => {
    const found = await inEmptyFolder({ DATABASE_URL: service.config.databaseUrl });
    expect(found.left).toEqual([]);
    expect(found.status).toBe(1);
    expect(found.stdout).toBe('');
    expect(found.stderr).toContain(`CARD_KEY, CURSOR_KEY missing in ${join(found.folder, 'secrets.json')}`);
  });

  it('where the database is missing', async () => {
    const found = await inEmptyFolder({}, ['secrets.json']);
    expect(found.left).toEqual(['secrets.json']);
    expect(found.status).toBe(1);
    expect(found.stderr).toContain(`There is no sandbox in ${found.folder}.`);
  });
});
