// A sealed value opens only in its row, account and purpose. Whoever can write to the database, but has no key, cannot use a
// value elsewhere: the service fails without a trace of it, and `payments doctor` finds it.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rotateSubscription } from '../../server/kit/events/subscriptions/changes.ts';
import { listSealed } from '../../server/kit/secrets/reseal.ts';
import type { Binding } from '../../server/kit/secrets/vault.ts';
import { sealedColumns } from '../../server/resources/facts.ts';
import { paymentsHere } from '../support/in-process.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { createGiftCard, recordReplacement, silentWork } from '../support/records.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { hasty, settled, storeCard, subscribe, type Subscription } from '../support/webhooks.ts';

let service: TestService;
let receiver: Receiver;
const subscriptions: Subscription[] = [];
const gifts: { id: string; account: string }[] = [];
const keys = [randomUUID(), randomUUID()] as const;

beforeAll(async () => {
  service = await startTestService({ webhooks: hasty });
  receiver = await startReceiver();
  const { secrets } = service;
  // Two of each kind in one account, and one in another.
  for (const account of ['default', 'default', 'marketplace']) {
    const authentication = { kind: 'basic', username: 'u', password: `password of ${account}` };
    const made = await subscribe(service, receiver.url, { account, authentication, active: false });
    subscriptions.push(made);
    await silentWork(db(), (unit) => rotateSubscription(unit, made.id, 60_000, secrets.vault));
    await recordReplacement({ db: db(), secrets }, await storeCard(service, account));
    const card = { merchant_account_id: account, number: '9999000011112222', pin: '1234' };
    const gift = await createGiftCard({ db: db(), secrets }, card);
    gifts.push({ id: gift.id, account });
  }
  for (const key of keys) await keep(key);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const db = () => service.service.database.db;
const token = () => service.token('*.read', '*.write');

const balances = (index: number, account = gifts[index]?.account ?? '') =>
  service.call('POST', '/gift-cards/balances', {
    token: token(),
    body: { items: [{ id: gifts[index]?.id }] },
    headers: { 'X-Service-Merchant-Account-ID': account },
  });
const list = () => service.call('GET', '/webhook-subscriptions?limit=100', { token: token() });
const keep = (key: string) =>
  service.call('POST', '/webhook-subscriptions', {
    token: token(),
    body: { active: false, url: 'https://kept.example' },
    headers: { 'Idempotency-Key': key },
  });

const doctor = async () => {
  const { stdout } = await paymentsHere(['doctor', '--json'], {
    DATABASE_URL: service.config.databaseUrl,
    DATA_DIR: service.config.dataDir,
  });
  const findings = JSON.parse(stdout) as { items: { check: string; broken: number; examples: string[] }[] };
  return findings.items.filter(({ broken }) => broken > 0);
};
const unopenable = (...examples: string[]) => [
  { check: 'everything that is sealed can be opened', broken: examples.length, examples },
];

/** Runs `work` while the database is damaged. */
async function withDamage<T>(damage: string, repair: string, work: () => Promise<T>): Promise<T> {
  await sql.raw(damage).execute(db());
  try {
    return await work();
  } finally {
    await sql.raw(repair).execute(db());
  }
}

/** Exchanges the values of a column between two rows; doing it again undoes it. */
const swap = (table: string, column: string, one: string, two: string, id = 'id') =>
  `update ${table} set ${column} = other.${column} from ${table} as other
   where ${table}.${id} in ('${one}', '${two}') and other.${id} in ('${one}', '${two}')
     and other.${id} <> ${table}.${id}`;

it('every sealed column has values here', async () => {
  for (const { table, value } of sealedColumns) {
    const { rows } = await sql<{ total: number }>`
      select count(*) as total from ${sql.table(table)} where ${value} is not null`.execute(db());
    expect(rows[0]?.total, `${table} ${value.compile(db()).sql}`).toBeGreaterThan(1);
  }
  expect(await doctor()).toEqual([]);
});

it('no stored value opens in the place of another', async () => {
  const stored: { sealed: string; binding: Binding }[] = [];
  await listSealed(db(), sealedColumns, (value) => stored.push(value));
  const { open } = service.secrets.vault;
  const isSame = (one: Binding, other: Binding) =>
    one.purpose === other.purpose && one.owner === other.owner && one.id === other.id;
  const opened: unknown[] = [];
  for (const { sealed, binding } of stored) {
    expect(open(sealed, binding)).not.toBe('');
    const elsewhere: Binding[] = [
      ...stored.map((other) => other.binding),
      { ...binding, owner: 'another' },
      { ...binding, owner: null },
      { ...binding, id: randomUUID() },
    ];
    for (const other of elsewhere.filter((one) => !isSame(one, binding))) {
      try {
        open(sealed, other);
        opened.push([binding, other]);
      } catch {
        // As it should be.
      }
    }
  }
  expect(opened).toEqual([]);
  // A replacement becomes the number of its row and a secret the old secret: these two pairs share their places.
  const places = new Set(stored.map(({ binding }) => JSON.stringify(Object.entries(binding).sort())));
  expect(stored.length - places.size).toBe(6);
});

const gift = (index: number) => gifts[index]?.id ?? '';
const subscription = (index: number) => subscriptions[index]?.id ?? '';

const secretOf = (other: string) => swap('webhook_subscriptions', 'secret_sealed', subscription(1), other);

describe('a value that was moved in the database', () => {
  it('to another gift card of the account: 500, and the answer does not say why', async () => {
    const exchange = swap('gift_cards', 'pin_sealed', gift(0), gift(1));
    await withDamage(exchange, exchange, async () => {
      const { status, text } = await balances(0);
      expect([status, text]).toEqual([500, expect.not.stringMatching(/seal|key|place|1234/)]);
      expect(await doctor()).toEqual(
        unopenable(...[`gift_cards ${gift(0)}`, `gift_cards ${gift(1)}`].sort()),
      );
    });
    expect((await balances(0)).status).toBe(200);
  });

  it.each([
    ['the secret of another subscription', () => secretOf(subscription(0))],
    ['the secret of a subscription of another account', () => secretOf(subscription(2))],
    [
      'the password as the secret',
      () => `update webhook_subscriptions set secret_sealed = password_sealed, password_sealed = secret_sealed
        where id = '${subscription(1)}'`,
    ],
  ])('%s: the list is 500, and nothing is delivered', async (_, damage) => {
    const exchange = damage();
    const active = (is: boolean) =>
      sql`update webhook_subscriptions set active = ${is} where id = ${subscription(1)}`.execute(db());
    const delivered = await withDamage(exchange, exchange, async () => {
      expect((await list()).status).toBe(500);
      await active(true);
      await storeCard(service);
      const found = await settled(service, { id: subscription(1), secret: '' });
      await active(false);
      return found;
    });
    expect(delivered.state).toBe('failed');
    expect(receiver.got).toEqual([]);
    const { rows } = await sql<{ error: string }>`
      select distinct error from delivery_attempts where delivery_id = ${delivered.id}`.execute(db());
    expect(rows).toEqual([{ error: 'the secrets of the subscription cannot be opened' }]);
    await sql`delete from deliveries where subscription_id = ${subscription(1)}`.execute(db());
    expect((await list()).status).toBe(200);
  });

  it('a kept answer under another key: 500, and nothing is done twice', async () => {
    const { rows } = await sql<{ slot: string }>`
      select slot from idempotency_keys where answer_sealed is not null order by slot`.execute(db());
    const answers = swap(
      'idempotency_keys',
      'answer_sealed',
      rows[0]?.slot ?? '',
      rows[1]?.slot ?? '',
      'slot',
    );
    const before = (await list()).body;
    const repeated = await withDamage(answers, answers, async () => [
      await keep(keys[0]),
      await keep(keys[1]),
    ]);
    expect(repeated.map(({ status }) => status)).toEqual([500, 500]);
    expect((await list()).body).toEqual(before);
    expect((await keep(keys[0])).headers.get('idempotency-replayed')).toBe('true');
  });

  it('the number of another card, also as a replacement: doctor names both', async () => {
    // In the order of doctor, which goes through them account by account.
    const { rows } = await sql<{ id: string }>`
      select card.id from payment_methods as card join merchant_accounts as account on account.id = merchant_account_id
      where replacement is not null order by account.created_at, account.id, card.id`.execute(db());
    const [one, two] = [rows[0]?.id ?? '', rows[1]?.id ?? ''];
    for (const column of ['number_sealed', 'replacement']) {
      const exchange = swap('payment_methods', column, one, two);
      const found = await withDamage(exchange, exchange, doctor);
      expect(found).toEqual(unopenable(`payment_methods ${one}`, `payment_methods ${two}`));
    }
    expect(await doctor()).toEqual([]);
  });
});
