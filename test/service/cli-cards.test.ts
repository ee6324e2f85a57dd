// The commands for buyers, gift cards, stored cards and transactions.
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchCardKeys } from '../../server/kit/secrets/secrets-file.ts';
import { createVault } from '../../server/kit/secrets/vault.ts';
import { findPaymentMethodOfAnyAccount } from '../../server/resources/payment-methods/any-account.ts';
import { findTransactionOfAnyAccount } from '../../server/resources/transactions/any-account.ts';
import { moveTransaction } from '../../server/resources/transactions/changes.ts';
import { lockTransaction, type NewTransaction } from '../../server/resources/transactions/queries.ts';
import { showsCode } from '../support/digits.ts';
import { paymentsHere, type EndedHere } from '../support/in-process.ts';
import {
  createAccount,
  createBuyer,
  createTransactions,
  recordReplacement,
  silentWork,
  writingAnything,
} from '../support/records.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { paymentMethod, transaction } from '../support/transactions.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const payments = (args: string[], input?: string | Readable): Promise<EndedHere> => {
  const { databaseUrl: DATABASE_URL, dataDir: DATA_DIR } = service.config;
  return paymentsHere(args, { DATABASE_URL, DATA_DIR }, input);
};
const db = () => service.service.database.db;
const call = async (path: string, body: object) => {
  const answer = await service.call('POST', path, { token: service.token('*.read', '*.write'), body });
  return answer.body as { id: string; status: string; fingerprint: string };
};
const store = (number = '4111111111111111', expiration_date = '12/39') =>
  call('/payment-methods', { method: 'card', number, expiration_date });
/** Reports new details of a card; the number, if there is one, on standard input. */
const found = (id: string, date: string, number?: string) =>
  payments(
    [
      ...['payment-methods', 'found-replacement', id, '--expiration-date', date],
      ...(number === undefined ? [] : ['--new-number']),
    ],
    number,
  );
const cardOf = (id: string) => findPaymentMethodOfAnyAccount(db(), id);
const told = (text: string) => JSON.parse(text) as Record<string, unknown>;

describe('buyers and gift cards', () => {
  it('a new buyer can be used at once; an external identifier can be used only once', async () => {
    const name = ['--name', 'Zoë', '--email', 'z@example.com'];
    const create = ['buyers', 'create', '--external-identifier', 'z-1', ...name];
    const made = await payments(create);
    expect([made.status, made.stderr]).toEqual([0, '']);
    expect(told(made.stdout)).toMatchObject({
      type: 'buyer',
      display_name: 'Zoë',
      external_identifier: 'z-1',
    });
    const { buyer } = (await call('/payment-methods', {
      method: 'card',
      number: '4111111111111111',
      expiration_date: '12/39',
      buyer_external_identifier: 'z-1',
    })) as unknown as { buyer: unknown };
    expect(buyer).toEqual(told(made.stdout));
    const [again, list] = await Promise.all([payments(create), payments(['buyers', 'list', '--json'])]);
    expect([again.status, again.stderr]).toEqual([1, 'There is a buyer z-1 already.\n']);
    expect(told(list.stdout).items).toContainEqual(told(made.stdout));
  });

  it('lists show as many as the limit says, the newest of all accounts', async () => {
    const id = 'many';
    await createAccount(db(), { id, display_name: id });
    for (const day of [1, 2, 3]) {
      const buyer = await createBuyer(db(), { merchant_account_id: id, external_identifier: `many-${day}` });
      const created_at = new Date(`2030-01-0${day}T00:00:00Z`);
      await db().updateTable('buyers').set({ created_at }).where('id', '=', buyer.id).execute();
      await payments(['gift-cards', 'create', '--merchant-account', id], `999900007700123${day} 4711\n`);
    }
    const list = async (...args: string[]) => {
      const { stdout, stderr } = await payments([...args, '--limit', '2', '--json']);
      return [
        (told(stdout).items as Record<string, unknown>[]).map((row) => row.external_identifier ?? row.last4),
        stderr,
      ];
    };
    const cut = 'Only the newest 2 are listed. For more: --limit 10000\n';
    expect(await list('buyers', 'list', '--merchant-account', id)).toEqual([['many-3', 'many-2'], cut]);
    expect(await list('buyers', 'list', '--merchant-account', '*')).toEqual([['many-3', 'many-2'], cut]);
    expect(await list('gift-cards', 'list', '--merchant-account', id)).toEqual([['1233', '1232'], '']);
  });

  it('a gift card is read from standard input and never printed', async () => {
    const made = await payments(['gift-cards', 'create'], '9999000077001234 4711\n');
    expect(made.status).toBe(0);
    expect(made.stdout + made.stderr).not.toContain('9999000077001234');
    expect(showsCode(made.stdout + made.stderr, '4711')).toBe(false);
    const { items } = (await call('/gift-cards/balances', {
      items: [{ id: told(made.stdout).id }],
    })) as unknown as { items: unknown[] };
    expect(items).toMatchObject([{ balance: 7700, last4: '1234' }]);
    const [bad, lost] = await Promise.all([
      payments(['gift-cards', 'create'], '12 4711\n'),
      payments(['gift-cards', 'create', '--merchant-account', 'nowhere'], '9999000077001234 4711\n'),
    ]);
    expect([bad.status, bad.stderr]).toEqual([
      1,
      'Give a number of 16 to 19 digits, a space, and the PIN.\n',
    ]);
    expect([lost.status, lost.stderr]).toEqual([1, expect.stringContaining('no merchant account nowhere')]);
  });
});

describe('payment-methods', () => {
  it('moves to allowed statuses, and otherwise says which are allowed', async () => {
    const { id } = await store('4012888888881881');
    const moved = await payments(['payment-methods', 'move', id, 'succeeded']);
    expect([moved.status, told(moved.stdout)]).toEqual([0, { id, status: 'succeeded' }]);
    const waits = await store('5105105105105100');
    const [final, illegal, unknown, wrong] = await Promise.all([
      payments(['payment-methods', 'move', id, 'failed']),
      payments(['payment-methods', 'move', waits.id, 'buyer_approval_required']),
      payments(['payment-methods', 'move', randomUUID(), 'failed']),
      payments(['payment-methods', 'move', id, 'unicorn']),
    ]);
    expect([final.status, final.stderr]).toEqual([1, 'It cannot become failed: succeeded is final.\n']);
    expect([illegal.status, illegal.stderr]).toEqual([
      1,
      'It cannot become buyer_approval_required: from buyer_approval_required it may become processing, succeeded, failed.\n',
    ]);
    expect([unknown.status, unknown.stderr]).toEqual([
      1,
      expect.stringContaining('There is no payment method'),
    ]);
    expect(wrong.status).toBe(2);
  });

  it('a card that becomes failed loses its number and a pending one, and gets no new one', async () => {
    const { id } = await store('4012888888881881');
    const replace = () => found(id, '01/41', '5105105105105100\n');
    expect(told((await replace()).stdout)).toMatchObject({ has_replacement: true });
    const moved = await payments(['payment-methods', 'move', id, 'failed']);
    expect([moved.status, moved.stderr]).toEqual([0, '']);
    const failed = await cardOf(id);
    expect(failed).toMatchObject({
      ...{ status: 'failed', number_sealed: null, fingerprint: null },
      ...{ has_replacement: false, replacement: null, replacement_found_at: null },
    });
    const again = await replace();
    expect([again.status, again.stderr]).toEqual([1, 'It gets no new details: failed is final.\n']);
    expect(await cardOf(id)).toEqual(failed);
  });

  it('a new number stays pending; a new date applies at once, together with a pending number', async () => {
    const { id, fingerprint } = await store();
    const waits = await found(id, '01/41', '5105105105105100\n');
    expect([waits.status, waits.stderr]).toEqual([0, '']);
    expect(told(waits.stdout)).toEqual({ id, has_replacement: true, last_replaced_at: null });
    expect(waits.stdout).not.toContain('5105105105105100');
    expect(await cardOf(id)).toMatchObject({
      has_replacement: true,
      fingerprint,
      label: '1111',
      expiration_date: '12/39',
    });
    const applied = await found(id, '02/42');
    expect(told(applied.stdout)).toMatchObject({ has_replacement: false });
    const row = await cardOf(id);
    expect(row).toMatchObject({
      has_replacement: false,
      replacement: null,
      label: '5100',
      scheme: 'mastercard',
      expiration_date: '02/42',
      card_type: 'debit',
    });
    expect(row?.last_replaced_at).not.toBeNull();
    expect(row?.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(row?.fingerprint).not.toBe(fingerprint);
    const { open } = createVault(watchCardKeys(service.config.dataDir));
    const place = { purpose: 'card-number', owner: 'default', id } as const;
    expect(open(row?.number_sealed ?? '', place)).toBe('5105105105105100');

    // The same number again is not a replacement.
    const same = await found(id, '03/43', '5105105105105100\n');
    expect(told(same.stdout)).toMatchObject({ has_replacement: false });
    expect(await cardOf(id)).toMatchObject({
      expiration_date: '03/43',
      label: '5100',
    });
    const [month, digits, luhn] = await Promise.all([
      found(id, '13/41'),
      found(id, '01/41', '55'),
      found(id, '01/41', '5555555555554445'),
    ]);
    expect([month.status, digits.status, luhn.status]).toEqual([2, 1, 1]);
    expect(luhn.stdout + luhn.stderr).not.toContain('5555555555554445');
  });

  it('a number may be on standard input; with --new-number it must be there', async () => {
    const { id } = await store();
    const kept = await found(id, '05/41');
    expect([kept.status, kept.stderr]).toEqual([0, '']);
    const before = await cardOf(id);
    expect(before).toMatchObject({ label: '1111', expiration_date: '05/41', has_replacement: false });
    const none = await found(id, '06/41', '');
    expect([none.status, none.stdout]).toEqual([1, '']);
    expect(none.stderr).toContain('Standard input is empty. It must have the new number');
    expect(await cardOf(id)).toEqual(before);
    const without = ['payment-methods', 'found-replacement', id, '--expiration-date', '07/41'];
    const given = await payments(without, '5555555555554444\n');
    expect([given.status, told(given.stdout)]).toMatchObject([0, { has_replacement: true }]);
  });

  it('a new date in the past is refused', async () => {
    const { id } = await store();
    const { status, stderr } = await found(id, '01/24');
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining("argument '01/24' is invalid. It is in the past.\n"),
    ]);
    expect(await cardOf(id)).toMatchObject({ expiration_date: '12/39' });
  });

  it('the same details again change nothing and send nothing', async () => {
    await service.call('POST', '/webhook-subscriptions', {
      token: service.token('webhook-subscriptions.write'),
      body: { url: 'http://127.0.0.1:9/' },
    });
    const { id } = await store();
    const state = async () => ({
      row: await cardOf(id),
      events: await db()
        .selectFrom('events')
        .select('id')
        .where('name', '=', 'payment-method.updated')
        .orderBy('id')
        .execute(),
    });
    const reports = [
      // The details of the card itself, without and with its number.
      { report: ['12/39'], isNews: false },
      { report: ['12/39', '4111111111111111\n'], isNews: false },
      { report: ['01/41', '5105105105105100\n'], isNews: true },
      // While the new number is pending: the pending details again, and the old ones.
      { report: ['01/41', '5105105105105100\n'], isNews: false },
      { report: ['12/39'], isNews: false },
      { report: ['02/41', '5105105105105100\n'], isNews: true },
      { report: ['02/41'], isNews: true },
      // Now they are applied.
      { report: ['02/41', '5105105105105100\n'], isNews: false },
    ] as const;
    for (const {
      report: [date, number],
      isNews,
    } of reports) {
      const before = await state();
      expect((await found(id, date, number)).status).toBe(0);
      const after = await state();
      if (!isNews) expect(after).toEqual(before);
      expect(after.events.length - before.events.length).toBe(isNews ? 1 : 0);
    }
  });

  it('apply-replacements does what the daily job does', async () => {
    const [old, young] = await Promise.all([store(), store()]);
    await writingAnything(db())
      .updateTable('payment_methods')
      .set({ expiration_date: '01/24' })
      .where('id', '=', old.id)
      .execute();
    for (const { id } of [old, young]) await recordReplacement({ db: db(), secrets: service.secrets }, id);
    // More than are changed at once.
    await sql`
      insert into payment_methods
      select (jsonb_populate_record(payment_methods, jsonb_build_object('id', gen_random_uuid()))).*
      from payment_methods, generate_series(1, 100) where id = ${old.id}`.execute(db());
    const { status, stdout } = await payments(['payment-methods', 'apply-replacements']);
    const { applied } = told(stdout) as { applied: string[] };
    expect([status, applied.length]).toEqual([0, 101]);
    expect(applied).toContain(old.id);
    expect(await cardOf(old.id)).toMatchObject({
      label: '4444',
      has_replacement: false,
    });
    expect(await cardOf(young.id)).toMatchObject({
      label: '1111',
      has_replacement: true,
    });
  });

  it('a replacement whose event breaks the contract is named and left as it is, and stops no other', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 3; index++) ids.push((await store()).id);
    const [broken, good, elsewhere] = ids as [string, string, string];
    for (const id of ids) await recordReplacement({ db: db(), secrets: service.secrets }, id);
    // The first that is due, so that all others come after it.
    await sql`
      update payment_methods set expiration_date = case id when ${broken} then '01/20' else '01/24' end,
        country = case id when ${broken} then 'no country' end,
        merchant_account_id = case id when ${elsewhere} then 'marketplace' else merchant_account_id end
      where id = any(${ids}::uuid[])`.execute(db());
    // More than are looked up at once.
    await sql`
      insert into payment_methods
      select (jsonb_populate_record(payment_methods, jsonb_build_object('id', gen_random_uuid()))).*
      from payment_methods, generate_series(1, 100) where id = ${broken}`.execute(db());
    const { status, stdout, stderr } = await payments(['payment-methods', 'apply-replacements']);
    expect([status, stderr]).toEqual([1, 'Not applied, and left as before: 101 replacements.\n']);
    const { applied, failed } = told(stdout) as {
      applied: string[];
      failed: { id: string; error: string }[];
    };
    expect([applied.sort(), failed.length]).toEqual([[good, elsewhere].sort(), 101]);
    expect(failed.find(({ id }) => id === broken)?.error).toMatch(
      /^The event payment-method.updated breaks the contract: .target.country/,
    );
    expect(await cardOf(broken)).toMatchObject({ has_replacement: true });
    for (const id of applied)
      expect(await cardOf(id)).toMatchObject({ label: '4444', has_replacement: false });
    await sql`update payment_methods set country = null`.execute(db());
    expect((await payments(['payment-methods', 'apply-replacements'])).status).toBe(0);
    expect(await cardOf(broken)).toMatchObject({ label: '4444', has_replacement: false });
  });

  it('an event caused by a command has links to the running service, whatever PORT the command has', async () => {
    const { id } = await store('5105105105105100');
    expect((await found(id, '01/41')).status).toBe(0);
    const { body } = await db()
      .selectFrom('events')
      .select('body')
      .orderBy('created_at', 'desc')
      .executeTakeFirstOrThrow();
    expect(JSON.parse(body)).toMatchObject({
      name: 'payment-method.updated',
      target: { id, approval_url: `${service.url}/sandbox/approvals/${id}` },
    });
  });

  it('list never shows a card number', async () => {
    const people = await payments(['payment-methods', 'list', '--limit', '100']);
    expect(people.stdout).toMatch(/^id +status +account +scheme +label/);
    expect(people.stdout).not.toContain('4111111111111111');
  });
});

describe('transactions move', () => {
  const create = async (given: Partial<NewTransaction>) => {
    const made = transaction(given);
    await createTransactions(db(), [made]);
    return made.id;
  };

  it('updates the amounts', async () => {
    const id = await create({ status: 'processing', amount: 500, authorized_amount: 0 });
    const move = (status: string, ...more: string[]) =>
      payments(['transactions', 'move', id, status, ...more]);
    const early = await move('capture_succeeded');
    expect([early.status, early.stderr]).toEqual([
      1,
      'It cannot become capture_succeeded: from processing it may become buyer_approval_pending, authorization_succeeded, authorization_failed, authorization_declined.\n',
    ]);
    expect((await move('authorization_succeeded')).status).toBe(0);
    expect(await findTransactionOfAnyAccount(db(), id)).toMatchObject({
      authorized_amount: 500,
      captured_amount: 0,
    });
    const praised = await move('capture_succeeded', '--reason', 'expired_payment_method');
    expect([praised.status, praised.stderr]).toEqual([2, expect.stringContaining('not why it is')]);
    const captured = await move('capture_succeeded');
    expect(told(captured.stdout)).toEqual({ id, status: 'capture_succeeded' });
    const row = await findTransactionOfAnyAccount(db(), id);
    expect(row).toMatchObject({ status: 'capture_succeeded', authorized_amount: 500, captured_amount: 500 });
    expect((row?.updated_at.getTime() ?? 0) > Date.now() - 60_000).toBe(true);
    expect(await payments(['transactions', 'move', randomUUID(), 'processing'])).toMatchObject({ status: 1 });
  });

  it('by a clock that is behind leaves it updated when it was created', async () => {
    const created_at = '2099-01-01T00:00:00.123Z';
    const id = await create({ status: 'processing', created_at, updated_at: created_at });
    expect((await payments(['transactions', 'move', id, 'authorization_failed'])).status).toBe(0);
    const row = await findTransactionOfAnyAccount(db(), id);
    expect(row).toMatchObject({ status: 'authorization_failed', updated_at: new Date(created_at) });
  });

  it('captures what was authorised, which may be less than was asked for, also after a capture that failed', async () => {
    const amounts = { amount: 500, authorized_amount: 450, refunded_amount: 3, settled_amount: 2 };
    const id = await create({ status: 'authorization_succeeded', ...amounts });
    for (const status of ['capture_pending', 'authorization_succeeded', 'capture_succeeded'])
      expect((await payments(['transactions', 'move', id, status])).status).toBe(0);
    expect(await findTransactionOfAnyAccount(db(), id)).toMatchObject({ ...amounts, captured_amount: 450 });
  });

  it('waits for lockTransaction, which locks a transaction of its account only', async () => {
    const id = await create({ status: 'authorization_succeeded' });
    const free = () => sql`select from transactions where id = ${id} for update skip locked`.execute(db());
    await silentWork(db(), async (unit) => {
      expect(await lockTransaction(unit.db, 'marketplace', id)).toBeUndefined();
      expect((await free()).rows).toHaveLength(1);
      expect(await lockTransaction(unit.db, 'default', id)).toMatchObject({ id });
      expect((await free()).rows).toHaveLength(0);
    });
  });

  const waiting = async () => {
    const { id } = await store();
    await recordReplacement({ db: db(), secrets: service.secrets }, id);
    return id;
  };

  const applied = { label: '4444', has_replacement: false };
  const pending = { label: '1111', has_replacement: true };
  const declined = async (card: string, reason: string | undefined, given: Partial<NewTransaction> = {}) => {
    const { status = 'authorization_declined', ...rest } = given;
    const id = await create({ ...rest, status: 'processing', payment_method: paymentMethod({ id: card }) });
    await silentWork(db(), (unit) => moveTransaction(unit, id, status, reason));
    return cardOf(card);
  };

  it('a decline because of the card applies its pending replacement', async () => {
    const card = await waiting();
    const id = await create({ status: 'processing', payment_method: paymentMethod({ id: card }) });
    const reason = ['--reason', 'expired_payment_method'];
    expect((await payments(['transactions', 'move', id, 'authorization_declined', ...reason])).status).toBe(
      0,
    );
    expect(await cardOf(card)).toMatchObject(applied);
    expect(await findTransactionOfAnyAccount(db(), id)).toMatchObject({
      status: 'authorization_declined',
      raw_response_code: 'expired_payment_method',
    });
  });

  it.each<[string, string | undefined, Partial<NewTransaction>?]>([
    ['for another reason', 'insufficient_funds'],
    ['without a reason', undefined],
    ['in another merchant account', 'expired_payment_method', { merchant_account_id: 'marketplace' }],
    ['that is a failure', 'expired_payment_method', { status: 'authorization_failed' }],
  ])('one %s does not', async (_, reason, given) => {
    expect(await declined(await waiting(), reason, given)).toMatchObject(pending);
  });

  it('a card without a replacement does not change', async () => {
    const { id } = await store();
    const unchanged = { label: '1111', has_replacement: false, last_replaced_at: null };
    expect(await declined(id, 'expired_payment_method')).toMatchObject(unchanged);
  });
});
