// `payments payment-methods erase` and `payments gift-cards erase`: what is stored of a card goes, and transactions stay as they are.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { erasedValues } from '../../server/kit/rules/erasure.ts';
import { eraseCards } from '../../server/resources/erasure/erase-cards.ts';
import { facts } from '../../server/resources/facts.ts';
import { lockPaymentMethod } from '../../server/resources/payment-methods/queries.ts';
import { card } from '../support/card.ts';
import { eventually } from '../support/data-dir.ts';
import { dump, linesOf } from '../support/dump.ts';
import { paymentsHere } from '../support/in-process.ts';
import { createPlanted } from '../support/planted.ts';
import { inStepOf, recordReplacement, silentWork } from '../support/records.ts';
import { noSecrets, startTestService, type TestService } from '../support/service.ts';
import { redemption, transaction } from '../support/transactions.ts';
import { subscribe } from '../support/webhooks.ts';

vi.setConfig({ testTimeout: 60_000 });

let service: TestService;
let env: Record<string, string | undefined>;
beforeAll(async () => {
  service = await startTestService({ config: { secrets: noSecrets, webhookWorker: false } });
  env = { DATABASE_URL: service.config.databaseUrl, DATA_DIR: service.config.dataDir };
  await subscribe(service, 'http://127.0.0.1:9/');
});
afterAll(() => service[Symbol.asyncDispose]());

const db = () => service.service.database.db;
const payments = (args: string[], input = '') => paymentsHere(args, env, input);
const done = async (args: string[], input = '') => {
  const { status, stdout, stderr } = await payments(args, input);
  expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' });
  return stdout;
};
const erase = async (...options: string[]) =>
  JSON.parse(await done(['payment-methods', 'erase', '--yes', '--json', ...options])) as Record<
    string,
    unknown
  >;

const post = (body: object, key: string = randomUUID(), account = 'default') =>
  service.call('POST', '/payment-methods', {
    token: service.token('*.write'),
    body: { ...card, ...body },
    headers: { 'Idempotency-Key': key, 'X-Service-Merchant-Account-ID': account },
  });
const store = async (body: object = {}, key?: string, account?: string) => {
  const { status, body: made } = await post(body, key, account);
  expect(status).toBe(201);
  return (made as { id: string }).id;
};
const expire = (id: string, date: string) =>
  sql`update payment_methods set expiration_date = ${date} where id = ${id}`.execute(db());
const rowOf = (id: string) =>
  db().selectFrom('payment_methods').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const changed = ['payment_methods', 'events', 'deliveries', 'idempotency_keys', 'settings', 'audit_entries'];
const contents = () => Promise.all(changed.map((table) => linesOf(db(), table)));
const audited = async () =>
  (JSON.parse(await done(['audit', '--json'])) as { items: { command: string }[] }).items.map(
    ({ command }) => command,
  );
const doctor = () => done(['doctor']);

const erasedRow = Object.fromEntries(erasedValues(facts.payment_methods.erasure));

describe('payment-methods erase', () => {
  it('leaves nothing of a card that has no buyer, but what its transactions have', async () => {
    const planted = createPlanted('card');
    const key = randomUUID();
    const body = {
      external_identifier: planted.text('external_identifier'),
      redirect_url: `https://shop.example/${encodeURIComponent(planted.text('redirect_url'))}`,
    };
    const id = await store(body, key);
    const other = await store({});
    await recordReplacement({ db: db(), secrets: service.secrets }, id);
    await sql`
      update payment_methods set verification_error = ${planted.text('verification_error')}, label = ${planted.text('label')},
        bin = ${planted.text('bin')}, fingerprint = ${planted.text('fingerprint')} where id = ${id}`.execute(
      db(),
    );
    const full = createPlanted('transaction').resource('Transaction');
    const paid = transaction({
      payment_method: { ...(full.payment_method as never as object), id } as typeof full.payment_method,
    });
    await done(['import', 'transactions', '-', '--events'], JSON.stringify(paid));
    // Its values are sampled only if there are several.
    for (let index = 0; index < 5; index++) await store({ external_identifier: `sampled ${index}` });
    await sql`analyze`.execute(db());
    const fieldsLeft = async () => new Set(planted.fieldsIn(await dump(db(), service.secrets.vault)));
    expect((await fieldsLeft()).size).toBe(6);
    const before = await rowOf(id);
    expect(
      erasedValues(facts.payment_methods.erasure).filter(([name]) => before[name as 'bin'] === null),
    ).toEqual([]);
    const [paidBefore, otherBefore, all] = [
      await linesOf(db(), 'transactions'),
      await rowOf(other),
      await contents(),
    ];

    const found = { payment_methods: 1, kept_answers: 1, events: 1 };
    const report = { found, already_erased: [], unknown: [] };
    expect(await erase(id, '--dry-run')).toEqual({ dry_run: true, ...report });
    expect(await contents()).toEqual(all);
    expect(await erase(id)).toEqual({ dry_run: false, ...report });

    expect(await fieldsLeft()).toEqual(new Set());
    const { updated_at, ...after } = await rowOf(id);
    expect(after).toEqual({ ...before, ...erasedRow, updated_at: undefined });
    expect(updated_at.getTime()).toBeGreaterThan(before.updated_at.getTime());
    expect(after).toMatchObject({ status: 'failed', usage_count: 1, scheme: 'visa' });
    expect([await linesOf(db(), 'transactions'), await rowOf(other)]).toEqual([paidBefore, otherBefore]);
    const events = await db().selectFrom('events').select(['name', 'body']).execute();
    expect(events.filter((event) => event.body.includes(id)).map(({ name }) => name)).toEqual([
      'transaction.created',
    ]);
    const { rows: orphans } = await sql`
      select from deliveries where event_id not in (select id from events)`.execute(db());
    expect(orphans).toEqual([]);
    expect((await audited())[0]).toBe(`payment-methods erase --yes --json ${id}`);
    expect(await doctor()).not.toContain('interrupted');

    // Repeated, the request is neither answered with the card nor carried out again.
    const again = await post(body, key);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([404, 'true']);
    const { items } = JSON.parse(await done(['payment-methods', 'show', '--history', id, '--json'])) as {
      items: { what: string; result: string }[];
    };
    expect(items[0]).toMatchObject({
      what: 'created',
      result: expect.stringMatching(/; it was erased, and its events with it$/) as string,
    });
    expect(items).toContainEqual(expect.objectContaining({ what: 'payment-methods erase --yes --json ID' }));
    const replaced = await payments(
      ['payment-methods', 'found-replacement', id, '--expiration-date', '12/44', '--new-number'],
      '5555555555554444\n',
    );
    expect([replaced.status, replaced.stderr]).toEqual([1, 'It gets no new details: failed is final.\n']);
  });

  it('reports those that are erased already, names unknown IDs with exit code 1, and erases the others', async () => {
    const [first, second, elsewhere] = [
      await store(),
      await store(),
      await store({}, undefined, 'marketplace'),
    ];
    const unknown = randomUUID();
    await erase(first);
    const settled = await contents();
    expect(await done(['payment-methods', 'erase', first, '--yes'])).toBe(`Already erased: ${first}.\n`);
    expect(await contents()).toEqual(settled);
    const { status, stdout, stderr } = await payments([
      ...['payment-methods', 'erase', first, second, unknown, elsewhere.toUpperCase(), second, '--yes'],
    ]);
    expect([status, stdout, stderr]).toEqual([
      1,
      `Erased: 2 cards, 2 kept answers, 2 events. Already erased: ${first}.\n`,
      `There is no payment method ${unknown}. See: payments payment-methods list\n`,
    ]);
    for (const id of [second, elsewhere]) expect(await rowOf(id)).toMatchObject(erasedRow);
    expect((await audited())[0]).toContain(unknown);
  });

  it('does nothing without being told so, and wants IDs or --expired-before', async () => {
    const id = await store();
    const before = await contents();
    for (const [args, code, said] of [
      [[id], 1, 'Erase 1 card? This cannot be undone. Without a terminal to ask at, add --yes.\n'],
      [[], 2, expect.stringContaining('Give IDs of payment methods, or --expired-before.')],
      [
        [id, '--expired-before', '01/20'],
        2,
        expect.stringContaining('Give IDs of payment methods, or --expired-before.'),
      ],
      [
        [id, '--merchant-account', 'default'],
        2,
        expect.stringContaining('--merchant-account needs --expired-before'),
      ],
      [['--expired-before', '13/20', '--yes'], 2, expect.stringContaining('Give MM/YY')],
      [
        ['--expired-before', '01/99', '--yes'],
        2,
        expect.stringContaining('cards of the month before are still valid'),
      ],
      [
        ['--expired-before', '01/20', '--merchant-account', 'nowhere', '--yes'],
        1,
        expect.stringContaining('There is no merchant account nowhere'),
      ],
    ] as const) {
      const { status, stderr } = await payments(['payment-methods', 'erase', ...args]);
      expect([args, status, stderr]).toEqual([args, code, said]);
    }
    expect(await contents()).toEqual(before);
  });

  it('--expired-before erases the cards of all accounts whose month is before it, however many', async () => {
    const [old, young, replaced, valid] = [await store(), await store(), await store(), await store()];
    const elsewhere = await store({}, undefined, 'marketplace');
    for (const id of [old, elsewhere, replaced]) await expire(id, '12/20');
    await expire(young, '01/21');
    await recordReplacement({ db: db(), secrets: service.secrets }, replaced);
    // More than are looked through at once.
    await sql`
      insert into payment_methods
      select (jsonb_populate_record(payment_methods, jsonb_build_object('id', gen_random_uuid()))).*
      from payment_methods, generate_series(1, 2100) where id = ${old}`.execute(
      // Without the limit of the statements of requests.
      service.service.database.background.db,
    );
    const before = await contents();
    expect(await erase('--expired-before', '01/21', '--dry-run')).toMatchObject({
      found: { payment_methods: 2102, kept_answers: 2, events: 2 },
    });
    expect(await contents()).toEqual(before);
    expect(await erase('--expired-before', '01/21', '--merchant-account', 'marketplace')).toMatchObject({
      found: { payment_methods: 1, kept_answers: 1, events: 1 },
    });
    expect(await erase('--expired-before', '01/21', '--merchant-account', '*')).toEqual({
      ...{ dry_run: false, already_erased: [], unknown: [] },
      found: { payment_methods: 2101, kept_answers: 1, events: 1 },
    });
    for (const id of [old, elsewhere]) expect(await rowOf(id)).toMatchObject(erasedRow);
    for (const id of [young, replaced, valid]) expect(await rowOf(id)).toMatchObject({ status: 'succeeded' });
    expect((await audited()).slice(0, 2)).toEqual([
      "payment-methods erase --yes --json --expired-before 01/21 --merchant-account '*'",
      'payment-methods erase --yes --json --expired-before 01/21 --merchant-account marketplace',
    ]);
    expect(await done(['payment-methods', 'erase', '--expired-before', '01/21', '--yes'])).toBe(
      'There is nothing to erase.\n',
    );
    const { items } = JSON.parse(await done(['payment-methods', 'show', '--history', old, '--json'])) as {
      items: { result: string }[];
    };
    expect(items[0]?.result).toContain('it was erased');
  });

  it("what has expired is judged by the database's clock, and the current month is accepted", async () => {
    const month = async (from: number) => {
      const { rows } = await sql<{ month: string }>`
        select to_char(now() at time zone 'UTC' + make_interval(months => ${from}::int), 'MM/YY') as month`.execute(
        db(),
      );
      return rows[0]?.month ?? '';
    };
    const [last, current, next, later] = [await store(), await store(), await store(), await store()];
    await expire(last, await month(-1));
    await expire(current, await month(0));
    await expire(next, await month(1));
    const before = await contents();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 240 * 24 * 3_600_000 });
    try {
      const { status, stderr } = await payments([
        ...['payment-methods', 'erase', '--expired-before', await month(1), '--yes'],
      ]);
      expect([status, stderr]).toEqual([2, expect.stringContaining('still valid') as string]);
    } finally {
      vi.useRealTimers();
    }
    expect(await contents()).toEqual(before);
    await erase('--expired-before', await month(0));
    expect(await rowOf(last)).toMatchObject(erasedRow);
    const chosen = { expiredBefore: await month(2), account: undefined };
    const inStep = inStepOf(db());
    await eraseCards(chosen, { db: db(), dryRun: false, onProgress: () => undefined, inStep });
    for (const id of [current, next, later]) expect(await rowOf(id)).toMatchObject({ status: 'succeeded' });
  });

  it('a card that gets a new date meanwhile is judged again, and stays', async () => {
    const id = await store();
    await expire(id, '12/20');
    const { found } = await eraseCards(
      { expiredBefore: '01/21', account: 'default' },
      {
        ...{ db: db(), dryRun: false, onProgress: () => undefined },
        // It is listed by now.
        inStep: async (work) => {
          await expire(id, '12/44');
          return inStepOf(db())(work);
        },
      },
    );
    expect([found, await rowOf(id)]).toMatchObject([
      { payment_methods: 0, kept_answers: 0, events: 0 },
      { status: 'succeeded' },
    ]);
  });

  it('finds the event of a card behind more than are looked through at once', async () => {
    await sql`
      insert into events (id, name, merchant_account_id, body, created_at)
      select gen_random_uuid(), 'payment-method.created', 'default', '{}', now() - interval '1 day'
      from generate_series(1, 2100)`.execute(db());
    expect(await erase(await store())).toMatchObject({ found: { payment_methods: 1, events: 1 } });
    await sql`delete from events where body = '{}'`.execute(db());
  });

  it.each(['its ID', '--expired-before'])(
    'by %s: interrupted before it came to the events, it continues with the next run, which doctor names',
    async (by) => {
      const id = await store();
      await expire(id, '12/20');
      const chosen = by === 'its ID' ? { ids: [id] } : { expiredBefore: '01/21', account: undefined };
      const args = by === 'its ID' ? [id] : ['--expired-before', '01/21'];
      let steps = 0;
      const stopped = eraseCards(chosen, {
        ...{ db: db(), dryRun: false, onProgress: () => undefined },
        inStep: (work) => ((steps += 1) === 1 ? inStepOf(db())(work) : Promise.reject(new Error('killed'))),
      });
      await expect(stopped).rejects.toThrow('killed');
      expect(await rowOf(id)).toMatchObject(erasedRow);
      const command = ['payment-methods', 'erase', ...args];
      expect(await doctor()).toContain(`an erasure was interrupted, run: payments ${command.join(' ')}\n`);
      const found = { payment_methods: 0, kept_answers: 1, events: 1 };
      expect(await erase(...args, '--dry-run')).toMatchObject({ found });
      expect(await erase(...args)).toMatchObject({ found });
      expect((await linesOf(db(), 'events')).filter((line) => line.includes(id))).toEqual([]);
      expect(await doctor()).not.toContain('interrupted');
    },
  );

  it('statistics that could not be made are made by the next run', async () => {
    const id = await store();
    let steps = 0;
    const stopped = eraseCards(
      { ids: [id] },
      {
        ...{ db: db(), dryRun: false, onProgress: () => undefined },
        // The last one says that nothing is left to do.
        inStep: (work) => ((steps += 1) === 4 ? Promise.reject(new Error('killed')) : inStepOf(db())(work)),
      },
    );
    await expect(stopped).rejects.toThrow('killed');
    expect(await doctor()).toContain(`payment-methods erase ${id}`);
    expect(await done(['payment-methods', 'erase', id, '--yes'])).toBe(
      `Finished what an earlier run had left. Already erased: ${id}.\n`,
    );
    expect(await doctor()).not.toContain('interrupted');
  });

  it('leaves nothing in the statistics of tables that have no row left', async () => {
    // Values are sampled only if there are several.
    const ids = [];
    for (let index = 0; index < 5; index++)
      ids.push(await store({ external_identifier: `remembered ${index}` }, `remembered ${index}`));
    await sql`delete from events where body not like '%remembered%'`.execute(db());
    await sql`delete from deliveries where event_id not in (select id from events)`.execute(db());
    await sql`
      insert into delivery_attempts (delivery_id, number, at, milliseconds, answer, merchant_account_id)
      select id, 1, now(), 1, 'remembered ' || row_number() over (), merchant_account_id from deliveries`.execute(
      db(),
    );
    await sql`analyze`.execute(db());
    const remembered = async () => {
      const { rows } = await sql<{ name: string }>`
        select distinct tablename || '.' || attname as name from pg_stats where pg_stats::text like '%remembered%' order by 1`.execute(
        db(),
      );
      return rows.map(({ name }) => name);
    };
    expect(await remembered()).toEqual([
      ...['delivery_attempts.answer', 'events.body', 'payment_methods.external_identifier'],
    ]);
    // As the daily job does.
    await sql`delete from idempotency_keys`.execute(db());
    await erase(...ids);
    expect(await remembered()).toEqual([]);
    for (const table of ['events', 'deliveries', 'delivery_attempts', 'idempotency_keys']) {
      expect([table, await linesOf(db(), table)]).toEqual([table, []]);
      const { rows } = await sql`
        select histogram_bounds::text as bounds from pg_stats where tablename = ${table} and histogram_bounds is not null`.execute(
        db(),
      );
      expect([table, rows]).toEqual([table, []]);
    }
  });

  it('waits for a change of the card, and deletes its event, too', async () => {
    const id = await store();
    let erasing: ReturnType<typeof erase> | undefined;
    await silentWork(db(), async (unit) => {
      await lockPaymentMethod(unit.db, 'default', id);
      erasing = erase(id);
      await eventually(async () => {
        const { rows } = await sql`
          select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
          db(),
        );
        return rows.length > 0;
      }, 'the erasure waits');
      await sql`
        insert into events (id, name, merchant_account_id, body, created_at)
        values (${randomUUID()}, 'payment-method.updated', 'default', ${JSON.stringify({ target: { id } })},
          now() - interval '1 hour')`.execute(unit.db);
    });
    expect(await erasing).toMatchObject({ found: { payment_methods: 1, events: 2 } });
  });
});

describe('gift-cards erase', () => {
  it('deletes a gift card, names unknown IDs with exit code 1, and leaves transactions as they are', async () => {
    const make = async (number: string) =>
      (JSON.parse(await done(['gift-cards', 'create'], `${number} 1111\n`)) as { id: string }).id;
    const [first, second, other] = [
      await make('9999000125505678'),
      await make('9999000125505686'),
      await make('9999000125505694'),
    ];
    const paid = transaction({
      gift_card_redemptions: [
        redemption({
          gift_card: { type: 'gift-card', id: first, bin: '999900', sub_bin: '012', last4: '5678' },
        }),
      ],
    });
    await done(['import', 'transactions', '-'], JSON.stringify(paid));
    const transactions = await linesOf(db(), 'transactions');
    const cards = () => linesOf(db(), 'gift_cards');
    const before = await cards();
    const unknown = randomUUID();
    const refused = await payments(['gift-cards', 'erase', first]);
    expect([refused.status, await cards()]).toEqual([1, before]);
    expect(await done(['gift-cards', 'erase', first, '--dry-run'])).toBe('Would be erased: 1 gift card.\n');
    expect(await cards()).toEqual(before);

    const { status, stdout, stderr } = await payments([
      'gift-cards',
      'erase',
      first,
      unknown,
      second,
      '--yes',
    ]);
    expect([status, stdout, stderr]).toEqual([
      1,
      'Erased: 2 gift cards.\n',
      `There is no gift card ${unknown}. See: payments gift-cards list\n`,
    ]);
    expect(await cards()).toEqual(before.filter((line) => !line.includes(first) && !line.includes(second)));
    expect(await linesOf(db(), 'transactions')).toEqual(transactions);
    expect((await audited())[0]).toBe(`gift-cards erase ${first} ${unknown} ${second} --yes`);
    const { body } = await service.call('POST', '/gift-cards/balances', {
      token: service.token('*.read'),
      body: { items: [{ id: first }, { id: other }] },
    });
    expect(body).toMatchObject({
      items: [
        { id: first, balance_error_code: 'invalid_gift_card', last4: null },
        { id: other, last4: '5694' },
      ],
    });
    expect((await payments(['gift-cards', 'erase', first, '--yes'])).status).toBe(1);
  });

  const makeUnusual = async (last4: string) => {
    const { id } = JSON.parse(await done(['gift-cards', 'create'], '9999000125500000 1111\n')) as {
      id: string;
    };
    await sql`update gift_cards set last4 = ${last4} where id = ${id}`.execute(db());
    return id;
  };
  const unusualIn = async (table: string) =>
    (await linesOf(db(), table)).filter((line) => line.includes('unusual'));

  it('erases the kept answer that shows it, and what the planner remembers, also of the last one', async () => {
    const id = await makeUnusual('unusual');
    await sql`
      insert into idempotency_keys (merchant_account_id, slot, fingerprint, claim, claimed_until, answer_sealed, resource_id, created_at)
      values ('default', 'of the gift card', '', gen_random_uuid(), now(), 'unusual', ${id}, now())`.execute(
      db(),
    );
    await sql`analyze gift_cards`.execute(db());
    expect(await unusualIn('pg_stats')).not.toEqual([]);
    const all = await db().selectFrom('gift_cards').select('id').execute();
    await done(['gift-cards', 'erase', '--yes', ...all.map((card) => card.id)]);
    for (const table of ['gift_cards', 'idempotency_keys', 'pg_stats'])
      expect(await unusualIn(table)).toEqual([]);
    expect(await linesOf(db(), 'gift_cards')).toEqual([]);
  });

  it('statistics that could not be made are made by the next run, which doctor names', async () => {
    const ids = [await makeUnusual('unusual'), await makeUnusual('another')];
    await sql`analyze gift_cards`.execute(db());
    const command = ['gift-cards', 'erase', ids[0] ?? '', '--yes'];
    let stopped: ReturnType<typeof payments> | undefined;
    await silentWork(db(), async (unit) => {
      await sql`lock table gift_cards in share update exclusive mode`.execute(unit.db);
      stopped = payments(command);
      await eventually(async () => {
        const { rows } = await sql`
          select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database()
            and wait_event_type = 'Lock' and query like 'analyze %'`.execute(db());
        return rows.length > 0;
      }, 'the statistics wait');
      expect((await stopped).status).toBe(1);
    });
    expect([await unusualIn('gift_cards'), (await unusualIn('pg_stats')).length]).toEqual([[], 1]);
    expect(await doctor()).toContain(`payments gift-cards erase ${ids[0] ?? ''}\n`);
    expect(await done(command)).toBe('Finished what an earlier run had left.\n');
    expect(await unusualIn('pg_stats')).toEqual([]);
    expect(await doctor()).not.toContain('interrupted');
    expect((await payments(command)).status).toBe(1);
  });
});
