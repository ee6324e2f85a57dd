// `payments buyers erase`: nothing that says who the buyer is stays anywhere in the database, while amounts and states do.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { InStep } from '../../server/kit/database/unit-of-work.ts';
import { insertEvent } from '../../server/kit/events/outbox.ts';
import { defaultLimits } from '../../server/kit/events/worker.ts';
import { createKeptAnswers } from '../../server/kit/idempotency/changes.ts';
import { earlier } from '../../server/kit/rules/database-time.ts';
import { erasedValues } from '../../server/kit/rules/erasure.ts';
import { lockBuyer } from '../../server/resources/buyers/queries.ts';
import { presentBuyer } from '../../server/resources/buyers/table.ts';
import { eraseBuyer, tablesOfBuyers } from '../../server/resources/erasure/erase-buyer.ts';
import type { FoundRow } from '../../server/resources/erasure/pages.ts';
import { listEventsShowing } from '../../server/resources/erasure/queries.ts';
import { facts } from '../../server/resources/facts.ts';
import { storeCard } from '../../server/resources/payment-methods/changes.ts';
import { lockPaymentMethod } from '../../server/resources/payment-methods/queries.ts';
import type { NewTransaction } from '../../server/resources/transactions/queries.ts';
import { card } from '../support/card.ts';
import { eventually } from '../support/data-dir.ts';
import { dump as dumpOf, linesOf as linesIn } from '../support/dump.ts';
import { paymentsHere } from '../support/in-process.ts';
import { createPlanted, type Planted } from '../support/planted.ts';
import { startReceiver } from '../support/receiver.ts';
import {
  createBuyer,
  createTransactions,
  inStepOf,
  recordReplacement,
  silentWork,
  writingAnything,
} from '../support/records.ts';
import { noSecrets, startTestService, type TestService } from '../support/service.ts';
import { buyer, redemption, transaction } from '../support/transactions.ts';
import { hasty, patient, subscribe, unsubscribe, until } from '../support/webhooks.ts';

vi.setConfig({ testTimeout: 120_000 });

let service: TestService;
let env: Record<string, string | undefined>;
beforeAll(async () => {
  service = await startTestService({ config: { secrets: noSecrets, webhookWorker: false } });
  env = { DATABASE_URL: service.config.databaseUrl, DATA_DIR: service.config.dataDir };
});
afterAll(() => service[Symbol.asyncDispose]());

const db = () => service.service.database.db;
const payments = (args: string[], input = '') => paymentsHere(args, env, input);
const done = async (args: string[], input = '') => {
  const { status, stdout, stderr } = await payments(args, input);
  expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' });
  return stdout;
};
const erase = async (id: string, ...options: string[]) =>
  JSON.parse(await done(['buyers', 'erase', id, '--yes', '--json', ...options])) as {
    dry_run: boolean;
    already_erased: boolean;
    found: Record<string, number>;
  };

const linesOf = (table: string) => linesIn(db(), table);
const dump = () => dumpOf(db(), service.secrets.vault);

/** The tables that an erasure changes. */
const contents = () =>
  Promise.all(
    ['buyers', 'payment_methods', 'transactions', 'events', 'deliveries', 'idempotency_keys', 'settings'].map(
      linesOf,
    ),
  );

const erasedOfTransactions = [
  ...['raw_response_description', 'metadata', 'buyer_external_identifier', 'payment_method_label'],
  ...['payment_method_bin', 'gift_card_last4s', 'buyer', 'payment_method', 'gift_card_redemptions'],
];

/** What must not change: everything else in the tables, and the events and deliveries that name none of these records. */
async function rest(records: readonly string[]): Promise<unknown> {
  const { rows: transactions } = await sql`
    select to_jsonb(one) - ${erasedOfTransactions}::text[]
      || jsonb_build_object('redeemed', (
        select jsonb_agg(jsonb_build_array(r ->> 'id', r ->> 'status', r ->> 'amount', r ->> 'refunded_amount'))
        from json_array_elements(gift_card_redemptions) as r)) as row
    from transactions as one order by id`.execute(db());
  const { rows: cards } = await sql`
    select id, buyer_id, merchant_account_id, usage_count, last_used_at, cit_usage_count, scheme, created_at
    from payment_methods order by id`.execute(db());
  const { rows: events } = await sql<{ id: string }>`
    select * from events where body !~* ${records.join('|')} order by id`.execute(db());
  const ids = events.map(({ id }) => id);
  const { rows: deliveries } = await sql`
    select * from deliveries where event_id = any(${ids}::uuid[]) order by id`.execute(db());
  const { rows: keys } =
    await sql`select slot, fingerprint, created_at from idempotency_keys order by slot`.execute(db());
  return { transactions, cards, events, deliveries, keys };
}

interface Person {
  id: string;
  planted: Planted;
  external: string;
  cards: string[];
}

const store = (body: object, key: string, path = '/payment-methods') =>
  service.call('POST', path, {
    token: service.token('*.write'),
    body,
    headers: { 'Idempotency-Key': key },
  });

/** Stores a card and returns its ID. */
const stored = async (body: object, key: string = randomUUID()) => {
  const answer = await store({ ...card, ...body }, key);
  expect(answer.status, `the card was not stored: ${answer.text}`).toBe(201);
  return (answer.body as { id: string }).id;
};

/** A buyer with a card in each state, one of them with a replacement that waits. */
async function plantPerson(owner: string): Promise<Person> {
  const planted = createPlanted(owner);
  const external = planted.text('record.external_identifier');
  const made = await createBuyer(db(), {
    merchant_account_id: 'default',
    external_identifier: external,
    display_name: planted.text('record.display_name'),
    account_number: planted.text('record.account_number'),
    billing_details: planted.resource('BillingDetails'),
  });
  const person: Person = { id: made.id, planted, external, cards: [] };
  for (const number of ['4242424242424242', '4012888888881881', '5105105105105100', '4111111111111112']) {
    const id = await stored({
      number,
      buyer_id: person.id,
      external_identifier: planted.text(`card ${number}.external_identifier`),
      redirect_url: `https://shop.example/${encodeURIComponent(planted.text(`card ${number}.redirect_url`))}`,
    });
    person.cards.push(id);
  }
  await recordReplacement({ db: db(), secrets: service.secrets }, person.cards[0] ?? '');
  // A verifier may quote what it was given.
  await writingAnything(db())
    .updateTable('payment_methods')
    .set({ verification_error: planted.text('card.verification_error') })
    .where('id', '=', person.cards[1] ?? '')
    .execute();
  return person;
}

/** Every field has a token; the fields given last are as the test needs them. */
function plantTransaction(planted: Planted, given: Partial<NewTransaction> = {}): NewTransaction {
  const full = planted.resource('Transaction');
  const wanted = {
    ...full,
    merchant_account_id: 'default',
    metadata: { [planted.text('metadata key')]: planted.text('metadata value') },
    payment_source: 'ecommerce' as const,
    payment_service_transaction_id: planted.text('payment_service_transaction_id'),
    ...given,
  };
  const last4 = { type: 'gift-card' as const, id: null, bin: '1', sub_bin: '2', last4: '4711' };
  wanted.gift_card_redemptions.push(redemption({ gift_card: last4 }));
  return wanted;
}

const keptFields = [
  ...['external_identifier', 'payment_service_transaction_id', 'raw_response_code', 'reconciliation_id'],
  ...['payment_method.details.card_issuer_name', 'payment_service.display_name', 'payment_service.id'],
  ...['payment_service.method', 'payment_service.payment_service_definition_id'],
  ...['gift_card_redemptions.error_code', 'gift_card_redemptions.gift_card_service_redemption_id'],
  'gift_card_redemptions.raw_error_code',
];

const count = async (table: string, column: string, where: string, id: string) => {
  const { rows } = await sql<{ total: number }>`
    select count(${sql.ref(column)}) as total from ${sql.table(table)}
    where ${sql.ref(where)} = ${id}::uuid`.execute(db());
  return rows[0]?.total ?? 0;
};

it('no token of the buyer is left in the database, and all that is not personal is', async () => {
  await subscribe(service, 'http://127.0.0.1:9/');
  const jane = await plantPerson('jane');
  const john = await plantPerson('john');
  const [janesCard = '', johnsCard = ''] = [jane.cards[0], john.cards[0]];

  // Names the buyer and its card; only the card; the buyer by reference only; in capitals and in another account.
  const whole = ['both', 'only her card', 'only her reference', 'elsewhere'].map((name) =>
    createPlanted(`jane: ${name}`),
  );
  const [both, onlyCard, onlyReference, elsewhere] = whole as [Planted, Planted, Planted, Planted];
  const his = createPlanted('john: her card');
  const others = createPlanted('john');
  const snapshot = (planted: Planted) => planted.resource('Transaction');
  const of = (
    planted: Planted,
    buyerId: string | null,
    cardId: string,
    more: Partial<NewTransaction> = {},
  ) => {
    const { buyer: someone, payment_method: method } = snapshot(planted);
    return plantTransaction(planted, {
      buyer: buyerId === null || !someone ? null : { ...someone, id: buyerId },
      payment_method: method ? { ...method, id: cardId } : null,
      ...more,
    });
  };
  const referenced = of(onlyReference, randomUUID(), randomUUID());
  if (referenced.buyer) referenced.buyer.external_identifier = jane.external;
  const janesRows = [
    of(both, jane.id, janesCard),
    of(onlyCard, null, janesCard),
    referenced,
    of(elsewhere, jane.id.toUpperCase(), randomUUID(), { merchant_account_id: 'marketplace' }),
  ];
  const rows = [...janesRows, of(his, john.id, janesCard), of(others, john.id, johnsCard)];
  const lines = rows.map((row) => JSON.stringify(row)).join('\n');
  await done(['import', 'transactions', '-', '--events'], lines);
  await sql`analyze`.execute(db());

  const everyone = [jane.planted, john.planted, his, others, ...whole];
  const fieldsIn = (text: string) => everyone.flatMap((planted) => planted.fieldsIn(text)).sort();
  const before = await dump();
  const janesRecords = [jane.id, ...jane.cards, jane.external.replace(/^.*(mk[a-z]+).*$/, '$1')];
  const [stays, untouched] = [await rest(janesRecords), await contents()];
  // Of some resources only a part was used, and merchant_account_id was overwritten.
  const planted = fieldsIn(before);
  expect(planted.length).toBeGreaterThan(250);
  /** In how many of her rows each column has a value. */
  const countErased = async () => {
    const found: [column: string, rows: number][] = [];
    for (const [table, rules] of [['buyers', facts.buyers.erasure] as const, ...tablesOfBuyers])
      for (const [column, value] of erasedValues(rules))
        if (value === null)
          found.push([
            `${table}.${column}`,
            await count(table, column, table === 'buyers' ? 'id' : 'buyer_id', jane.id),
          ]);
    return found;
  };
  const empty = (await countErased()).flatMap(([column, filled]) => (filled > 0 ? [] : column));
  expect(empty, 'have nothing to erase. Give each a value in plantPerson').toEqual([]);

  const counted = await erase(jane.id, '--dry-run');
  expect(counted).toMatchObject({
    dry_run: true,
    already_erased: false,
    found: { buyers: 1, payment_methods: 4, transactions: 5, kept_answers: 4, events: 9 },
  });
  expect(await contents()).toEqual(untouched);

  const { found } = await erase(jane.id);
  expect(found).toEqual(counted.found);
  const after = fieldsIn(await dump());
  const survives = (field: string): boolean => {
    if (field.startsWith('john: her card')) return !/payment_method\.(?!details\.card_issuer)/.test(field);
    if (field.startsWith('john')) return true;
    return keptFields.some((kept) => field.endsWith(` ${kept}`)) && field.startsWith('jane: ');
  };
  expect(after).toEqual(planted.filter(survives));
  expect(await rest(janesRecords)).toEqual(stays);
  expect((await countErased()).filter(([, filled]) => filled > 0)).toEqual([]);
  const { rows: named } = await sql`
    select id from events where body ~* ${janesRecords.join('|')}
    union all select id from deliveries where event_id not in (select id from events)
    union all select delivery_id from delivery_attempts where delivery_id not in (select id from deliveries)`.execute(
    db(),
  );
  expect(named).toEqual([]);

  // What is left still keeps the contract, and the service's own rules.
  const { body: list } = await service.call('GET', `/transactions?buyer_id=${jane.id}`, {
    token: service.token('*.read'),
  });
  expect((list as { items: unknown[] }).items).toMatchObject([
    {
      id: janesRows[0]?.id,
      buyer: { id: jane.id, display_name: null },
      updated_at: '2026-11-01T10:30:00.123Z',
    },
  ]);
  await done(['doctor']);

  // The cards cannot be used, and get no new details.
  const cards = await db()
    .selectFrom('payment_methods')
    .selectAll()
    .where('buyer_id', '=', jane.id)
    .execute();
  expect(new Set(cards.map(({ status }) => status))).toEqual(new Set(['failed']));
  const replaced = await payments(
    ['payment-methods', 'found-replacement', janesCard, '--expiration-date', '12/44', '--new-number'],
    '5555555555554444\n',
  );
  expect([replaced.status, replaced.stderr]).toEqual([1, 'It gets no new details: failed is final.\n']);
  // Nor can new ones be stored for the buyer, by either identifier.
  for (const by of [{ buyer_id: jane.id }, { buyer_external_identifier: jane.external }])
    expect((await store({ ...card, ...by }, randomUUID())).status).toBe(404);

  // Another time there is nothing to erase.
  const settled = await contents();
  expect(await erase(jane.id)).toMatchObject({ already_erased: true });
  expect(await done(['buyers', 'erase', jane.id, '--yes'])).toBe(`Buyer ${jane.id} is already erased.\n`);
  expect(await contents()).toEqual(settled);
  const { items: audit } = JSON.parse(await done(['audit', '--json'])) as { items: { command: string }[] };
  expect(audit.map(({ command }) => command).filter((command) => command.startsWith('buyers erase'))).toEqual(
    [`buyers erase ${jane.id} --yes --json`],
  );
});

const named = (external: string | null, display_name: string | null = 'Jane') => ({
  merchant_account_id: 'default',
  external_identifier: external,
  display_name,
  account_number: null,
  billing_details: null,
});

const snapshotsOf = async (ids: readonly string[]) => {
  const rows = await db().selectFrom('transactions').selectAll().where('id', 'in', ids).execute();
  return ids.map((id) => rows.find((row) => row.id === id));
};

it('the same reference with the ID of another record is the other buyer', async () => {
  const [jane, john] = [await createBuyer(db(), named('shared')), await createBuyer(db(), named('other'))];
  const both = [jane, john].map((one) =>
    transaction({ buyer: buyer({ id: one.id, external_identifier: 'shared', display_name: 'Name' }) }),
  );
  await createTransactions(db(), both);
  expect((await erase(jane.id)).found).toMatchObject({ transactions: 1 });
  expect(await snapshotsOf(both.map(({ id }) => id))).toMatchObject([
    { buyer: { display_name: null }, buyer_external_identifier: null },
    { buyer: { display_name: 'Name' }, buyer_external_identifier: 'shared' },
  ]);
});

it('a buyer that only transactions name can be erased; with --references their references, too', async () => {
  const id = randomUUID();
  const rows = ['default', 'marketplace'].map((merchant_account_id) =>
    transaction({
      merchant_account_id,
      external_identifier: 'order',
      buyer: buyer({ id, display_name: 'Jane' }),
    }),
  );
  await createTransactions(db(), rows);
  const before = await rest([id]);
  expect((await erase(id)).found).toMatchObject({ buyers: 0, transactions: 2 });
  expect(await rest([id])).toEqual(before);
  expect(await erase(id)).toMatchObject({ already_erased: true });
  expect((await erase(id, '--references')).found).toMatchObject({ transactions: 2 });
  const { rows: changes } = await sql`
    select distinct xmin::text from transactions where id = any(${rows.map((row) => row.id)}::uuid[])`.execute(
    db(),
  );
  expect(changes, 'each account is changed in a transaction of its own').toHaveLength(2);
  const left = await snapshotsOf(rows.map((row) => row.id));
  expect(left).toMatchObject(
    rows.map(() => ({ external_identifier: null, amount: 1299, buyer: { id, display_name: null } })),
  );
});

it('refuses an unknown buyer, and does nothing without being told so', async () => {
  const unknownId = randomUUID();
  for (const [id, status, said] of [
    [unknownId, 1, `There is no buyer ${unknownId}, neither as a record nor in transactions.\n`],
    ['jane@shop.example', 2, expect.stringContaining('their --search finds references') as string],
  ] as const)
    expect(await payments(['buyers', 'erase', id, '--yes'])).toMatchObject({ status, stderr: said });
  const made = await createBuyer(db(), named(null));
  const before = await contents();
  const { status, stderr } = await payments(['buyers', 'erase', made.id]);
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/^Erase .*\? This cannot be undone\. Without a terminal to ask at, add --yes\.\n$/),
  ]);
  expect(await contents()).toEqual(before);
  const told = await done(['buyers', 'erase', made.id, '--dry-run']);
  expect(told).toMatch(/^Has personal data: 1 buyer(, 0 [a-z ]+s)*, 0 cards(, 0 [a-z ]+s)+\.\n$/);
});

it('a request that is repeated after the erasure is 404, and not carried out again', async () => {
  const made = await createBuyer(db(), named('replayed'));
  const key = randomUUID();
  const body = { ...card, buyer_id: made.id, external_identifier: 'a card of hers' };
  await stored(body, key);
  await erase(made.id);
  const before = await contents();
  const again = await store(body, key);
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([404, 'true']);
  expect((await store({ ...body, external_identifier: 'another' }, key)).status).toBe(422);
  expect(await contents()).toEqual(before);
  // After 24 hours the key is free, as any other.
  await sql`update idempotency_keys set created_at = created_at - interval '24 hours'`.execute(db());
  const fresh = await store({ ...card, external_identifier: 'of another day' }, key);
  expect([fresh.status, fresh.headers.get('idempotency-replayed')]).toEqual([201, 'false']);
});

it('the kept answer of a request that stored the buyer itself is erased, too', async () => {
  const made = await createBuyer(db(), named('stored by POST /buyers'));
  const answers = createKeptAnswers(service.secrets.vault)(db(), () => Promise.resolve());
  const claim = { id: randomUUID(), account: 'default', slot: 'of the buyer', fingerprint: 'same' };
  expect(await answers.claim(claim)).toBe('claimed');
  await answers.keep(claim, { status: 201, headers: {}, text: JSON.stringify(presentBuyer(made)) });
  expect((await erase(made.id)).found).toMatchObject({ buyers: 1, kept_answers: 1 });
  expect(await answers.find(claim)).toEqual({ fingerprint: 'same', answer: 'erased' });
  expect(await erase(made.id)).toMatchObject({ already_erased: true });
});

it('interrupted, it continues with the next run', async () => {
  const made = await createBuyer(db(), named('interrupted'));
  const id = made.id;
  // The reference alone leads to half of them, so it must last until all are found.
  const rows = Array.from({ length: 1600 }, (_, index) =>
    transaction({
      buyer: buyer({
        id: index % 2 ? id : randomUUID(),
        external_identifier: 'interrupted',
        display_name: 'x',
      }),
      created_at: new Date(Date.UTC(2026, 0, 1) + Math.floor(index / 3)).toISOString(),
    }),
  );
  await createTransactions(db(), rows);
  let erasedSoFar = 0;
  const stopped = eraseBuyer(id, {
    db: db(),
    dryRun: false,
    references: false,
    onProgress: ({ transactions = 0 }) => {
      erasedSoFar = transactions;
    },
    inStep: (work) => (erasedSoFar < 1000 ? inStepOf(db())(work) : Promise.reject(new Error('killed'))),
  });
  await expect(stopped).rejects.toThrow('killed');
  const left = async () => {
    const { rows: found } = await sql<{ total: number }>`
      select count(*) as total from transactions where buyer_external_identifier = 'interrupted'
        or buyer ->> 'display_name' = 'x'`.execute(db());
    return found[0]?.total ?? 0;
  };
  expect(await left()).toBe(600);
  expect((await erase(id)).found).toMatchObject({ buyers: 0, transactions: 600 });
  expect(await left()).toBe(0);
});

it('interrupted before it came to the cards, none of them gets a new number', async () => {
  const { id } = await createBuyer(db(), named('half erased'));
  const cardId = await stored({ buyer_id: id });
  let steps = 0;
  const inStep: InStep = (work) =>
    (steps += 1) === 1 ? inStepOf(db())(work) : Promise.reject(new Error('killed'));
  const stopped = eraseBuyer(id, {
    ...{ db: db(), dryRun: false, references: false },
    ...{ onProgress: () => undefined, inStep },
  });
  await expect(stopped).rejects.toThrow('killed');
  const args = ['payment-methods', 'found-replacement', cardId, '--expiration-date', '12/44', '--new-number'];
  const { status, stderr } = await payments(args, '5555555555554444\n');
  expect([status, stderr]).toEqual([1, expect.stringContaining('There is no payment method')]);
  expect((await erase(id)).found).toMatchObject({ payment_methods: 1 });
});

const untilItWaits = () =>
  eventually(async () => {
    const { rows } = await sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      db(),
    );
    return rows.length > 0;
  }, 'the erasure waits');

it('a card that is being stored meanwhile is erased, too', async () => {
  const made = await createBuyer(db(), named('busy'));
  const id = made.id;
  let erasing: ReturnType<typeof erase> | undefined;
  await silentWork(db(), async (unit) => {
    expect(await lockBuyer(unit.db, 'default', { id })).toMatchObject({ id });
    erasing = erase(id);
    await untilItWaits();
    const row = {
      ...{
        merchant_account_id: 'default',
        buyer_id: id,
        external_identifier: 'just now',
        redirect_url: null,
      },
      ...{ number: card.number, expiration_date: '12/39', status: 'succeeded' as const },
      ...{ card_type: null, card_issuer_name: null },
    };
    await storeCard(unit, row, service.secrets);
  });
  expect((await erasing)?.found).toMatchObject({ buyers: 1, payment_methods: 1 });
  expect(
    await db().selectFrom('payment_methods').selectAll().where('buyer_id', '=', id).execute(),
  ).toMatchObject([{ status: 'failed', external_identifier: null, number_sealed: null }]);
});

it('the event of a change that is committed meanwhile is deleted, too', async () => {
  const { id } = await createBuyer(db(), named('changing'));
  const cardId = await stored({ buyer_id: id });
  let erasing: ReturnType<typeof erase> | undefined;
  await silentWork(db(), async (unit) => {
    await lockPaymentMethod(unit.db, 'default', cardId);
    erasing = erase(id);
    await untilItWaits();
    await insertEvent(unit.db, {
      ...{ id: randomUUID(), name: 'payment-method.updated', merchant_account_id: 'default' },
      body: JSON.stringify({ target: { id: cardId, buyer: { id, display_name: 'Jane' } } }),
      created_at: earlier(unit.now, 3_600_000),
    });
  });
  expect((await erasing)?.found).toMatchObject({ payment_methods: 1, events: 2 });
  expect((await linesOf('events')).filter((line) => line.includes(cardId))).toEqual([]);
});

/** With a worker, beside the service that has none. */
const startWorker = (webhooks: typeof hasty) => {
  const { databaseUrl, secrets, dataDir } = service.config;
  return startTestService({ config: { databaseUrl, secrets, dataDir }, webhooks });
};

const countLost = ({ logs }: TestService, { id }: { id: string }) =>
  logs.filter((line) => line.includes('webhook not recorded') && line.includes(id)).length;

it('an event that is not delivered yet is never delivered, and cannot be replayed', async () => {
  await using receiver = await startReceiver();
  const subscription = await subscribe(service, receiver.url);
  const made = await createBuyer(db(), named('not delivered'));
  await stored({ buyer_id: made.id });
  const deliveries = await db()
    .selectFrom('deliveries')
    .select(['id', 'event_id'])
    .where('subscription_id', '=', subscription.id)
    .execute();
  expect((await erase(made.id)).found).toMatchObject({ events: 1 });
  // Proves that the worker has got so far.
  await stored({});
  await using _worker = await startWorker(hasty);
  await receiver.received(1);
  expect(receiver.got.filter(({ body }) => body.includes(made.id))).toEqual([]);
  const replayed = await payments(['webhooks', 'replay', deliveries[0]?.event_id ?? '']);
  expect([replayed.status, receiver.got.length]).toEqual([1, 1]);
  await unsubscribe(service, subscription);
});

it('a delivery that is being sent is neither recorded nor tried again', async () => {
  const answers: (() => void)[] = [];
  await using receiver = await startReceiver((res) => answers.push(() => res.writeHead(500).end()));
  const subscription = await subscribe(service, receiver.url);
  const made = await createBuyer(db(), named('being sent'));
  // A receiver gets so many at a time; the others are not begun.
  const { perSubscription } = defaultLimits;
  const cards: string[] = [];
  while (cards.length < perSubscription + 2) cards.push(await stored({ buyer_id: made.id }));
  await using worker = await startWorker(patient);
  await receiver.received(perSubscription);
  expect((await erase(made.id)).found).toMatchObject({ events: cards.length });
  for (const answer of answers) answer();
  await until(() => Promise.resolve(countLost(worker, subscription) === perSubscription));
  expect(receiver.got.length).toBe(perSubscription);
  const { rows } = await sql`
    select 'delivery' as what, id from deliveries where subscription_id = ${subscription.id}
    union all select 'attempt', delivery_id from delivery_attempts where delivery_id not in (select id from deliveries)`.execute(
    db(),
  );
  expect(rows).toEqual([]);
  await unsubscribe(service, subscription);
});

it('history says that the events of a card are erased', async () => {
  const made = await createBuyer(db(), named('with history'));
  const id = await stored({ buyer_id: made.id });
  await erase(made.id);
  const rows = JSON.parse(await done(['payment-methods', 'show', '--history', id, '--json'])) as {
    items: { what: string; result: string }[];
  };
  expect(rows.items).toContainEqual(
    expect.objectContaining({ what: 'created', result: expect.stringContaining('erased') as string }),
  );
});

it('statistics that could not be made are made by the next run, which has no limit of time', async () => {
  const made = await createBuyer(db(), named('in statistics', 'a name in statistics'));
  // Their values are sampled only if there are several.
  for (let index = 0; index < 20; index++) await createBuyer(db(), named(null, `sampled ${index}`));
  await sql`analyze buyers`.execute(db());
  const known = async () => (await linesOf('pg_stats')).some((line) => line.includes('a name in statistics'));
  expect(await known()).toBe(true);
  await sql`create table noted (value text)`.execute(db());
  await sql`create function note() returns trigger language plpgsql as $$ begin
    insert into noted values (current_setting('statement_timeout')); return new; end $$`.execute(db());
  await sql`create trigger noting after update on buyers for each row execute function note()`.execute(db());
  let stopped: ReturnType<typeof payments> | undefined;
  await silentWork(db(), async (unit) => {
    await sql`lock table buyers in share update exclusive mode`.execute(unit.db);
    stopped = payments(['buyers', 'erase', made.id, '--yes']);
    await eventually(async () => {
      const { rows } = await sql`
        select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database()
          and wait_event_type = 'Lock' and query like 'analyze %'`.execute(db());
      return rows.length > 0;
    }, 'the statistics wait');
    expect((await stopped).status).toBe(1);
  });
  expect(await known()).toBe(true);
  expect(await linesOf('noted')).toEqual(['(0)', '(0)']);
  expect(await done(['doctor'])).toContain(`buyers erase ${made.id}`);
  expect(await done(['buyers', 'erase', made.id, '--yes'])).toMatch(/^Finished what an earlier run had left/);
  expect(await known()).toBe(false);
  expect(await erase(made.id)).toMatchObject({ already_erased: true });
  await sql`drop function note cascade`.execute(db());
  await sql`drop table noted`.execute(db());
});

it('the events of a buyer with very many cards are found in the time that a statement has', async () => {
  const cards = Array.from({ length: 1000 }, () => randomUUID());
  const insert = (target: object) => {
    const id = randomUUID();
    const body = JSON.stringify({ id, target: { ...target, filler: 'abcdefgh'.repeat(250) } });
    return {
      id,
      name: 'payment-method.created',
      merchant_account_id: 'default',
      body,
      created_at: new Date(),
    };
  };
  const own = [
    insert({ id: cards[999]?.toUpperCase() }),
    insert({ id: randomUUID(), buyer: { id: cards[0] } }),
    insert({ id: randomUUID(), buyer: null, payment_method: { id: cards[500] } }),
    insert({ id: randomUUID(), buyer: { id: randomUUID(), external_identifier: 'quoted " \\ é' } }),
  ];
  // Older, and more than are looked through at once.
  const others = Array.from({ length: 2000 }, () => ({
    ...insert({ id: randomUUID(), buyer: { id: randomUUID(), external_identifier: null } }),
    created_at: new Date(0),
  }));
  for (let start = 0; start < others.length; start += 500)
    await db()
      .insertInto('events')
      .values(others.slice(start, start + 500))
      .execute();
  await db().insertInto('events').values(own).execute();
  const found: string[] = [];
  const person = {
    id: cards[0] ?? '',
    account: 'default',
    externalIdentifier: 'quoted " \\ é',
    records: cards,
  };
  for (let after: FoundRow | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const page = await listEventsShowing(db(), { account: 'default' }, person, after);
    found.push(...page.rows.map(({ id }) => id));
    after = page.next;
  }
  expect(found.sort()).toEqual(own.map(({ id }) => id).sort());
});
