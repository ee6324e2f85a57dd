// Whatever a receiver does, the attempt ends by its deadline, leaves nothing behind and harms nobody else. All of them at once
// but the names, against the real worker.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction, type Database } from '../../../server/kit/database/database.ts';
import { insertEvent } from '../../../server/kit/events/outbox.ts';
import type { DatabaseTime } from '../../../server/kit/rules/database-time.ts';
import { openTestDatabase } from '../../support/database.ts';
import { rcodes, startNameServer, type NameAnswer, type NameServer } from '../../support/name-server.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { createAccount } from '../../support/records.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { hasty, subscribe, until } from '../../support/webhooks.ts';
import { behaviours, nameBehaviours, startHostile, type Hostile } from './hostile-receivers.behaviours.ts';

/** On a busy machine all of them together take seconds. */
const deadlineMilliseconds = 6_000;

const names: Record<string, NameAnswer> = {
  'silent.test': undefined,
  'missing.test': { rcode: rcodes.noSuchName },
  'failing.test': { rcode: rcodes.serverFailure },
  'empty.test': { addresses: [] },
  'garbage.test': { bytes: Buffer.from('garbage, and no DNS message at all') },
  'metadata.test': { addresses: ['169.254.169.254'] },
  'private.test': { addresses: ['10.0.0.1', '192.168.0.1'] },
  'mixed.test': { addresses: ['10.0.0.1', '127.0.0.1'] },
};

let nameServer: NameServer;
let service: TestService;
/** Apart from the service, which ends statements of requests after 3 s. */
let database: Database;
let good: Receiver;
const hostile: { name: string; subscription: string; receiver: Hostile }[] = [];

const attempts = () =>
  database.db
    .selectFrom('delivery_attempts')
    .innerJoin('deliveries', (join) =>
      join
        .onRef('deliveries.merchant_account_id', '=', 'delivery_attempts.merchant_account_id')
        .onRef('deliveries.id', '=', 'delivery_id'),
    )
    .select(['subscription_id', 'status', 'error', 'at', 'milliseconds'])
    .execute();

/** An event of each of these accounts, all at once. Not by requests: what receivers of one do, could hold up those of the others. */
const causeEvents = (...accounts: string[]) =>
  inTransaction(database.db, async (tx) => {
    const event = { name: 'payment-method.created', body: '{}', created_at: new Date() as DatabaseTime };
    for (const merchant_account_id of accounts)
      await insertEvent(tx, { ...event, id: randomUUID(), merchant_account_id });
  });

/** Two accounts, because one has at most 50 active subscriptions. */
const cases = [
  ...behaviours.map((behaviour) => ({ ...behaviour, account: 'default' })),
  ...nameBehaviours.map((behaviour) => ({ ...behaviour, account: 'marketplace' })),
];

beforeAll(async () => {
  nameServer = await startNameServer((name) => names[name]);
  service = await startTestService({
    webhooks: {
      // One attempt, whatever comes of it.
      schedule: () => undefined,
      options: { ...hasty.options, milliseconds: deadlineMilliseconds, dnsServers: [nameServer.address] },
    },
  });
  database = openTestDatabase(service.config.databaseUrl ?? '');
  await createAccount(database.db, { id: 'good', display_name: 'Good' });
  good = await startReceiver();
  await subscribe(service, good.url, { account: 'good' });
  for (const { account, ...behaviour } of cases) {
    const receiver = await startHostile(behaviour);
    const { id } = await subscribe(service, receiver.url, { account });
    hostile.push({ name: behaviour.name, subscription: id, receiver });
  }
  // What does not end at all is missed by its own test below.
  const ended = (number: number) =>
    until(async () => (await attempts()).length >= number).catch(() => undefined);
  // Names come first, because the others keep this process busy, and the name server in it answers too late.
  await causeEvents('marketplace');
  await ended(nameBehaviours.length);
  await causeEvents('default', 'good');
  await good.received(1);
  await ended(cases.length + 1);
});
afterAll(async () => {
  for (const { receiver } of hostile) await receiver[Symbol.asyncDispose]();
  await good[Symbol.asyncDispose]();
  await database.close();
  await service[Symbol.asyncDispose]();
  await nameServer[Symbol.asyncDispose]();
});

const idOf = (name: string) => hostile.find((one) => one.name === name)?.subscription;

describe('an attempt ends by its deadline, with a reason that a person can read', () => {
  it.each(cases)('$name', async ({ name, status, error }) => {
    const [found, ...more] = (await attempts()).filter(({ subscription_id: id }) => id === idOf(name));
    expect(more).toEqual([]);
    expect(found).toMatchObject({ status: status ?? null });
    expect(found?.error ?? '').toMatch(error ?? /^$/);
  });
});

it('a good receiver of another account gets its event meanwhile', async () => {
  const all = (await attempts()).map((one) => ({ ...one, end: one.at.getTime() + one.milliseconds }));
  const ofGood = all.filter(({ status }) => status === 204);
  const last = Math.max(...all.map(({ end }) => end));
  expect(ofGood).toHaveLength(1);
  expect(ofGood[0]?.end).toBeLessThan(last);
});

it('every lease has ended: the next event is attempted everywhere, and no connection stays', async () => {
  await causeEvents('default', 'marketplace', 'good');
  await good.received(2);
  await until(async () => (await attempts()).length === 2 * (cases.length + 1));
  const stillOpen = () =>
    hostile.filter(({ receiver }) => receiver.connections() > 0).map(({ name }) => name);
  await until(() => Promise.resolve(stillOpen().length === 0)).catch(() => undefined);
  expect(stillOpen()).toEqual([]);
  const { rows } = await sql`select id from deliveries where leased_by is not null`.execute(database.db);
  expect(rows).toEqual([]);
});
