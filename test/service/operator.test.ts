// What an operator looks at and tries out: transactions, cards, buyers, triggered events, and how calls are refused.
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { contractVersion, events } from '../../generated/operations.ts';
import { card } from '../support/card.ts';
import { paymentsHere } from '../support/in-process.ts';
import { startReceiver } from '../support/receiver.ts';
import { createAccount, createBuyer, createTransactions, recordReplacement } from '../support/records.ts';
import {
  noSecrets as secrets,
  productionEnv,
  startTestService,
  testSecrets,
  type TestService,
} from '../support/service.ts';
import { buyer, transaction } from '../support/transactions.ts';
import {
  causeDeliveries,
  hasty,
  storeCard,
  subscribe,
  unsubscribe,
  until,
  verify,
} from '../support/webhooks.ts';

vi.setConfig({ testTimeout: 120_000 });

let service: TestService;
beforeAll(async () => {
  // The first attempt fails, and the second is not due for an hour.
  const webhooks = { ...hasty, schedule: () => 3600 };
  service = await startTestService({ config: { secrets }, webhooks });
  await createAccount(db(), { id: 'paging', display_name: 'Paging' });
});
afterAll(() => service[Symbol.asyncDispose]());

const db = () => service.service.database.db;
const payments = (...args: string[]) => {
  const { databaseUrl: DATABASE_URL, dataDir: DATA_DIR } = service.config;
  return paymentsHere(args, { DATABASE_URL, DATA_DIR });
};
const json = async <T>(...args: string[]) => {
  const { status, stdout, stderr } = await payments(...args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as T;
};
const unknown = '00000000-0000-4000-8000-000000000000';

interface List {
  items: { id: string }[];
  next_cursor: string | null;
}

describe('payments transactions list', () => {
  const account = ['--merchant-account', 'paging'];
  const at = (minute: number) => `2026-11-15T10:0${minute}:00.000Z`;
  const rows = [0, 1, 2, 3, 4].map((minute) =>
    transaction({
      merchant_account_id: 'paging',
      status: minute === 2 ? 'authorization_declined' : 'processing',
      buyer: minute === 3 ? buyer({ external_identifier: 'buyer-42' }) : null,
      external_identifier: `order ${minute}`,
      created_at: at(minute),
      updated_at: at(minute),
    }),
  );
  const newest = rows.map(({ id }) => id).reverse();
  const listed = async (...args: string[]) =>
    (await json<List>('transactions', 'list', ...account, ...args, '--json')).items.map(({ id }) => id);
  beforeAll(() => createTransactions(db(), rows));

  it('lists what the API lists, in its shape', async () => {
    const { body } = await service.call('GET', '/transactions', {
      token: service.token('transactions.read'),
      headers: { 'X-Service-Merchant-Account-ID': 'paging' },
    });
    const { items } = await json<List>('transactions', 'list', ...account, '--json');
    expect(items.map(({ id }) => id)).toEqual(newest);
    expect(items).toEqual((body as List).items);
  });

  it.each([
    [['--status', 'authorization_declined'], [2]],
    [
      ['--status', 'authorization_declined', 'processing', '--limit', '2'],
      [4, 3],
    ],
    [['--buyer', 'buyer-42'], [3]],
    [['--buyer', unknown], []],
    [['--search', 'order 1'], [1]],
    [
      ['--since', at(1), '--until', at(2)],
      [2, 1],
    ],
    [['--until', '9999d'], []],
  ])('%j', async (args, minutes) => {
    expect(await listed(...args)).toEqual(minutes.map((minute) => rows[minute]?.id));
  });

  it('shows amounts with the digits of their currency, and the account', async () => {
    const given = [
      [1299, 'EUR', '12.99 EUR'],
      [5, 'USD', '0.05 USD'],
      [1299, 'JPY', '1299 JPY'],
      [1299, 'KWD', '1.299 KWD'],
      // Intl shows no decimals for these two.
      [1299, 'HUF', '12.99 HUF'],
      [1299, 'IQD', '1.299 IQD'],
    ] as const;
    await createAccount(db(), { id: 'amounts', display_name: 'Amounts' });
    await createTransactions(
      db(),
      given.map(([amount, currency]) =>
        transaction({ merchant_account_id: 'amounts', external_identifier: 'amounts', amount, currency }),
      ),
    );
    const { stdout } = await payments(
      ...['transactions', 'list', '--search', 'amounts', '--merchant-account', '*'],
    );
    for (const [, , text] of given) expect(stdout).toContain(`  ${text}  `);
    expect(stdout.match(/Z {2}amounts {2}/g)).toHaveLength(given.length);
  });

  it('prints a table for people, and below it the command for the next page', async () => {
    const pages: string[] = [];
    let call = ['transactions', 'list', '--limit', '2', ...account];
    for (;;) {
      const { status, stdout, stderr } = await payments(...call);
      expect(status).toBe(0);
      expect(stdout).toMatch(
        /^id +status +amount +created_at +account +method +buyer +external_identifier\n/,
      );
      pages.push(...(stdout.match(/^[0-9a-f-]{36}/gm) ?? []));
      const [, next] = /^\nNext page: (?:npx )?payments (.+)\n$/.exec(stderr) ?? [];
      if (next === undefined) break;
      call = next.split(' ');
      expect(call.filter((word) => word === '--cursor')).toHaveLength(1);
    }
    expect(pages).toEqual(newest);
  });

  it('lists all accounts with *, and refuses one that does not exist', async () => {
    const ids = await json<List>(
      'transactions',
      'list',
      '--merchant-account',
      '*',
      '--limit',
      '1000',
      '--json',
    );
    expect(ids.items.map(({ id }) => id)).toEqual(expect.arrayContaining(newest));
    const none = await payments('transactions', 'list', '--merchant-account', 'none');
    expect(none).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('no merchant account none') as string,
    });
  });

  it('show prints one as the API shows it', async () => {
    const { items } = await json<List>('transactions', 'list', ...account, '--json');
    expect(await json('transactions', 'show', items[1]?.id ?? '')).toEqual(items[1]);
    for (const [id, status, said] of [
      [unknown, 1, `There is no transaction ${unknown}. See: payments transactions list\n`],
      ['order 1', 2, expect.stringContaining('their --search finds references') as string],
    ] as const)
      expect(await payments('transactions', 'show', id)).toMatchObject({ status, stderr: said });
    const declined = transaction({
      ...{ status: 'authorization_declined', raw_response_code: '51' },
      raw_response_description: 'Insufficient funds',
    });
    await createTransactions(db(), [declined]);
    const { items: happened } = await json<{ items: unknown[] }>(
      'transactions',
      'show',
      '--history',
      declined.id,
      '--json',
    );
    expect(happened).toMatchObject([
      { what: 'created', result: expect.stringContaining('no event of it is kept') as string },
      { what: 'status now', result: 'authorization_declined: 51 Insufficient funds' },
    ]);
    const elsewhere = await payments('transactions', 'list', '--search', 'nothing', ...account);
    expect(elsewhere.stdout).toContain(`To look in all accounts, add --merchant-account '*'`);
  });
});

describe('payments payment-methods show', () => {
  it('shows label, scheme, status, buyer and the pending replacement, and never a number', async () => {
    const { body } = await service.call('POST', '/payment-methods', {
      token: service.token('*.write'),
      body: card,
    });
    const { id } = body as { id: string };
    const plain = await json('payment-methods', 'show', id);
    expect(plain).toEqual({ ...(body as object), replacement: null });
    await recordReplacement({ db: db(), secrets: service.secrets }, id);
    const { stdout } = await payments('payment-methods', 'show', id);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ label: '1111', scheme: 'visa', status: 'succeeded', has_replacement: true },
      replacement: { label: '4444', scheme: 'mastercard', expiration_date: '12/44' },
    });
    // A fingerprint is hexadecimal, and by chance 13 of its digits in a row are decimal.
    expect(stdout.replaceAll(/"fingerprint": "\w+"/g, '')).not.toMatch(/\d{13}|sealed/);
    expect(await payments('payment-methods', 'show', unknown)).toMatchObject({
      status: 1,
      stderr: `There is no payment method ${unknown}. See: payments payment-methods list\n`,
    });
  });
});

it('payments buyers show prints a buyer, also an erased one', async () => {
  const made = await createBuyer(db(), {
    ...{ merchant_account_id: 'default', external_identifier: 'b-1', display_name: 'Zoë' },
    ...{ account_number: null, billing_details: null },
  });
  const id = made.id;
  expect(await json('buyers', 'show', id)).toMatchObject({
    type: 'buyer',
    id,
    display_name: 'Zoë',
    erased_at: null,
  });
  expect((await payments('buyers', 'erase', id, '--yes')).status).toBe(0);
  expect(await json('buyers', 'show', id)).toMatchObject({
    id,
    display_name: null,
    erased_at: expect.any(String) as string,
  });
  expect(await payments('buyers', 'show', unknown)).toMatchObject({
    status: 1,
    stderr: `There is no buyer ${unknown}. See: payments buyers list\n`,
  });
});

interface Triggered {
  name: string;
  event: string;
  target: string;
  is_example: boolean;
  subscriptions: number;
}

describe('payments webhooks trigger', () => {
  it('--all sends every event; without records they show the examples of the contract', async () => {
    await createAccount(db(), { id: 'no-records', display_name: 'No records' });
    await using receiver = await startReceiver();
    const subscription = await subscribe(service, receiver.url, { account: 'no-records' });
    const { items } = await json<{ items: Triggered[] }>(
      'webhooks',
      'trigger',
      '--all',
      '--merchant-account',
      'no-records',
    );
    expect(items.map(({ name }) => name)).toEqual(events);
    await receiver.received(events.length);
    const got = receiver.got.map((one) => verify(subscription.secret, one));
    for (const { event, name, target, ...told } of items) {
      expect(told).toMatchObject({ is_example: true, subscriptions: 1 });
      expect(got).toContainEqual(
        expect.objectContaining({
          ...{ type: 'event', id: event, name, merchant_account_id: 'no-records' },
          target: expect.objectContaining({ id: target }) as object,
        }),
      );
    }
    // The examples show another one, and not every resource shows its account.
    const accounts = got.map(
      (one) => (one as { target: { merchant_account_id?: string } }).target.merchant_account_id,
    );
    for (const account of accounts) expect([undefined, 'no-records']).toContain(account);
    expect(accounts).toContain('no-records');
    await unsubscribe(service, subscription);
  });

  it('shows the newest record of the account, or the one that is named', async () => {
    const older = await storeCard(service);
    const newer = await storeCard(service);
    const trigger = (...args: string[]) => payments('webhooks', 'trigger', 'payment-method.updated', ...args);
    const { status, stdout, stderr } = await trigger();
    expect([status, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ target: newer, is_example: false, subscriptions: 0 }),
    ]);
    expect(stderr).toContain('default has no active subscription, so nobody receives the event.');
    expect(JSON.parse((await trigger('--id', older)).stdout)).toMatchObject({ target: older });
    for (const args of [
      ['--id', unknown],
      ['--id', older, '--merchant-account', 'paging'],
    ])
      expect(await trigger(...args)).toMatchObject({
        ...{ status: 1, stdout: '' },
        stderr: expect.stringContaining('for an event payment-method.updated.') as string,
      });
    const { items } = await json<{ items: { command: string }[] }>('audit', '--limit', '1', '--json');
    // With the ID of the event.
    expect(items[0]?.command).toMatch(
      new RegExp(`^webhooks trigger payment-method\\.updated --id ${older} # [0-9a-f-]{36}$`),
    );
  });

  it('with --subscription goes to that one only, whose account it takes', async () => {
    await createAccount(db(), { id: 'two', display_name: 'Two receivers' });
    await using chosen = await startReceiver();
    await using other = await startReceiver();
    const subscription = await subscribe(service, chosen.url, { account: 'two' });
    const beside = await subscribe(service, other.url, { account: 'two' });
    const off = await subscribe(service, other.url, { account: 'two', active: false });
    const trigger = (...args: string[]) => ['webhooks', 'trigger', 'transaction.created', ...args];
    const told = await json<Triggered>(...trigger('--subscription', subscription.id));
    expect(told).toMatchObject({ merchant_account_id: 'two', subscriptions: 1 });
    await chosen.received(1);
    verify(subscription.secret, chosen.got[0]);
    // An event for both comes after it, and is the only one that the other receives.
    const second = await json<Triggered>(...trigger('--merchant-account', 'two'));
    await other.received(1);
    expect(other.got.map(({ headers }) => headers['webhook-id'])).toEqual([second.event]);
    for (const [args, reason] of [
      [['--subscription', unknown], `There is no subscription ${unknown}.`],
      [['--subscription', off.id], 'is switched off'],
      [['--subscription', beside.id, '--merchant-account', 'default'], 'receives no events of default'],
    ] as const)
      expect(await payments(...trigger(...args))).toMatchObject({
        ...{ status: 1, stdout: '' },
        stderr: expect.stringContaining(reason) as string,
      });
    for (const one of [subscription, beside, off]) await unsubscribe(service, one);
  });

  it('is refused in production, and for an event that the contract does not have', async () => {
    const env = productionEnv({ ...service.config, secrets: testSecrets() });
    const production = await paymentsHere(['webhooks', 'trigger', 'transaction.created'], env);
    expect(production.status).toBe(1);
    expect(production.stderr).toMatch(/^Events can be triggered only in the sandbox/);
    for (const [args, reason] of [
      [['transaction.lost'], `Allowed choices are ${events.join(', ')}.`],
      [['transaction.created', '--all'], 'Give the name of an event, or --all.'],
      [['--all', '--id', unknown], '--id needs the name of an event'],
    ] as const)
      expect(await payments('webhooks', 'trigger', ...args)).toMatchObject({
        ...{ status: 2, stdout: '' },
        stderr: expect.stringContaining(reason) as string,
      });
  });
});

it('payments webhooks deliveries says when the next attempt is due', async () => {
  await using receiver = await startReceiver((res) => res.writeHead(500).end());
  const subscription = await subscribe(service, receiver.url);
  await storeCard(service);
  const deliveries = (...args: string[]) =>
    payments('webhooks', 'deliveries', '--subscription', subscription.id, ...args);
  const [tried] = await until(async () => {
    const { items: rows } = JSON.parse((await deliveries('--json')).stdout) as {
      items: { attempt: number | null; next_attempt: string }[];
    };
    return rows[0]?.attempt === 1 && rows;
  });
  const minutes = (Date.parse(tried?.next_attempt ?? '') - Date.now()) / 60_000;
  expect(minutes).toBeGreaterThan(50);
  expect(minutes).toBeLessThanOrEqual(60);
  expect((await deliveries()).stdout).toMatch(
    /^pending {4}500 {2}.*\n {2}event .*\n {2}attempt 1, next in [56]\d min\n$/,
  );
  expect((await deliveries('--wide')).stdout).toMatch(/^event .* next_attempt\n.* 500 .* in [56]\d min\n$/);
  expect((await deliveries('--since', '2h')).stdout).toMatch(/^pending /);
  expect((await deliveries('--since', '2999-01-01')).stdout).toBe('There is no delivery.\n');
  expect((await deliveries('--failed')).stdout).toMatch(
    /^There is no failed delivery\. .* still tried: payments webhooks deliveries\n$/,
  );
  await payments('webhooks', 'deactivate', subscription.id);
  expect((await deliveries()).stdout).toMatch(/ fails in [56]\d min\n$/);
  expect(await payments('webhooks', 'replay', '--failed')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(
      /^There is no failed delivery\. .* webhooks replay EVENT_ID, or --pending SUBSCRIPTION_ID\n$/,
    ) as string,
  });
  await db()
    .updateTable('deliveries')
    .set({ state: 'failed' })
    .where('subscription_id', '=', subscription.id)
    .execute();
  expect(JSON.parse((await deliveries('--json')).stdout)).toMatchObject({
    items: [{ state: 'failed', next_attempt: null, error: null }],
  });
  await unsubscribe(service, subscription);
});

it('payments --version prints the version of the contract', async () => {
  expect(await payments('--version')).toEqual({ status: 0, stdout: `${contractVersion}\n`, stderr: '' });
});

describe('payments accounts delete', () => {
  it('deletes an account that has nothing, and no other', async () => {
    await payments('accounts', 'create', 'empty', '--name', 'Empty');
    expect(await json('accounts', 'delete', 'empty')).toEqual({ id: 'empty', deleted: true });
    const again = await payments('accounts', 'delete', 'empty');
    expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('no merchant account empty')]);
    // A pair without accounts has access to all of them.
    await payments('accounts', 'create', 'keyed', '--name', 'Keyed');
    await payments('keys', 'create', '--name', 'Keyed', '--merchant-account', 'keyed');
    for (const used of ['keyed', 'default']) {
      const { status, stderr } = await payments('accounts', 'delete', used);
      expect([status, stderr]).toEqual([1, expect.stringContaining('so it cannot be deleted')]);
    }
    expect((await payments('accounts', 'list')).stdout).toMatch(/^keyed /m);
  });
});

it('webhooks replay --pending sends at once what waits for a subscription, and nothing of another', async () => {
  let isRepaired = false;
  await using receiver = await startReceiver((res) => res.writeHead(isRepaired ? 204 : 500).end());
  await using other = await startReceiver((res) => res.writeHead(500).end());
  const subscription = await subscribe(service, receiver.url);
  const others = await subscribe(service, other.url);
  const pending = (...args: string[]) => payments('webhooks', 'replay', '--pending', ...args);
  expect(await pending(subscription.id)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Nothing waits for this subscription.') as string,
  });
  await storeCard(service);
  await storeCard(service);
  const statesOf = async ({ id }: { id: string }) => {
    const rows = await db()
      .selectFrom('deliveries')
      .select(['state', 'attempts'])
      .where('subscription_id', '=', id)
      .where('leased_by', 'is', null)
      .execute();
    return rows.map(({ state, attempts }) => `${state} ${attempts}`).sort();
  };
  const tried = ['pending 1', 'pending 1'];
  await until(async () =>
    isDeepStrictEqual([await statesOf(subscription), await statesOf(others)], [tried, tried]),
  );
  isRepaired = true;
  const { stdout } = await pending(subscription.id);
  expect(JSON.parse(stdout)).toEqual({ replayed: 2, switched_off: 0 });
  await until(async () => isDeepStrictEqual(await statesOf(subscription), ['succeeded 2', 'succeeded 2']));
  expect(await statesOf(others)).toEqual(tried);
  for (const args of [
    [subscription.id, '--failed'],
    [subscription.id, '--subscription', others.id],
    [subscription.id, '--since', '1h'],
  ])
    expect((await pending(...args)).status).toBe(2);
  await payments('webhooks', 'deactivate', others.id);
  expect((await pending(others.id)).stderr).toBe(
    `A subscription is switched off. Switch on, and replay again: payments webhooks activate ${others.id}\n`,
  );
  await unsubscribe(service, subscription);
  await unsubscribe(service, others);
});

it('webhooks replay --failed replays in batches, each in a transaction of its own, with one audit entry', async () => {
  await using own = await startTestService({ config: { secrets, webhookWorker: false } });
  const { db } = own.service.database;
  const [on, off] = [
    await subscribe(own, 'http://127.0.0.1:9/'),
    await subscribe(own, 'http://127.0.0.1:9/'),
  ];
  await causeDeliveries(own, on, 2_100);
  await causeDeliveries(own, off, 1_100);
  await sql`update deliveries set state = 'failed'`.execute(db);
  await sql`update webhook_subscriptions set active = false where id = ${off.id}`.execute(db);
  const { databaseUrl: DATABASE_URL, dataDir: DATA_DIR } = own.config;
  const { stdout, stderr } = await paymentsHere(['webhooks', 'replay', '--failed'], {
    DATABASE_URL,
    DATA_DIR,
  });
  expect(JSON.parse(stdout)).toEqual({ replayed: 2_100, switched_off: 1_100 });
  expect(stderr).toMatch(
    new RegExp(`^A subscription is switched off.* payments webhooks activate ${off.id}\n$`),
  );
  const { rows } = await sql<object>`
    select subscription_id = ${on.id} as on, state, count(distinct xmin::text)::integer > 1 as "inSteps",
      (select count(*)::integer from audit_entries where command like 'webhooks replay%') as entries
    from deliveries group by 1, 2 order by 1 desc`.execute(db);
  expect(rows).toEqual([
    { on: true, state: 'pending', inSteps: true, entries: 1 },
    { on: false, state: 'failed', inSteps: false, entries: 1 },
  ]);
});

describe('filters of lists', () => {
  const idsOf = async (...args: string[]) =>
    (await json<{ items: { id: string }[] }>(...args, '--json')).items.map(({ id }) => id);

  it('buyers list --search finds an ID, and parts of the reference, the name and the email address', async () => {
    const make = (...args: string[]) => json<{ id: string }>('buyers', 'create', ...args);
    const jane = await make('--name', 'Jane Q_Searched', '--external-identifier', 'sought-1');
    const june = await make('--external-identifier', 'SOUGHT-2', '--email', 'june@100%.example');
    const search = (text: string) => idsOf('buyers', 'list', '--search', text);
    expect(await search('sought-')).toEqual([june.id, jane.id]);
    expect(await search('q_search')).toEqual([jane.id]);
    expect(await search('JUNE@100%')).toEqual([june.id]);
    expect(await search(jane.id.toUpperCase())).toEqual([jane.id]);
    // These are no wildcards.
    expect(await search('sought_1')).toEqual([]);
    expect(await search('%')).toEqual([june.id]);
    expect((await payments('buyers', 'list', '--search', 'nobody')).stdout).toMatch(
      /^There is no such buyer in/,
    );
    const imported = transaction({
      buyer: {
        ...{ type: 'buyer', id: unknown, external_identifier: 'only-imported' },
        ...{ display_name: null, account_number: null, billing_details: null },
      },
    });
    await createTransactions(db(), [imported]);
    expect((await payments('buyers', 'list', '--search', 'only-imported')).stdout).toMatch(
      /^There is no buyer record, but imported transactions name \S+\. .* buyers erase \S+ --dry-run\n$/,
    );
    expect(await idsOf('buyers', 'list', '--search', 'sought-1', '--merchant-account', '*')).toEqual([
      jane.id,
    ]);
  });

  it('payment-methods list takes the buyer and statuses', async () => {
    const buyer = await json<{ id: string }>('buyers', 'create', '--external-identifier', 'owner-1');
    const store = async (number: string) => {
      const body = { method: 'card', number, expiration_date: '12/39', buyer_id: buyer.id };
      const { body: made } = await service.call('POST', '/payment-methods', {
        token: service.token('payment-methods.write'),
        body,
      });
      return (made as { id: string }).id;
    };
    const stored = await store('4111111111111111');
    const waits = await store('5105105105105100');
    const list = (...args: string[]) => idsOf('payment-methods', 'list', ...args);
    expect(await list('--buyer', buyer.id)).toEqual([waits, stored]);
    expect(await list('--buyer', 'owner-1', '--status', 'succeeded')).toEqual([stored]);
    expect(await list('--buyer', 'owner-1', '--status', 'failed', 'buyer_approval_required')).toEqual([
      waits,
    ]);
    expect(await list('--buyer', 'nobody')).toEqual([]);
    expect(await list('--search', stored.toUpperCase(), '--merchant-account', '*')).toEqual([stored]);
    expect(await list('--search', '1111', '--buyer', buyer.id)).toEqual([stored]);
    const elsewhere = await payments('payment-methods', 'list', '--search', 'no such reference');
    expect(elsewhere.stdout).toContain(`To look in all accounts, add --merchant-account '*'`);
    expect((await payments('payment-methods', 'list', '--status', 'lost')).status).toBe(2);
  });
});
