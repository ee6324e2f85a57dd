// Providers are written by others. What they throw, return and forget reaches neither callers nor logs with card data in it, and
// never becomes a fault of this service.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DescribeCard, VerifyCard } from '../../server/providers/cards.ts';
import type { GiftCardProvider } from '../../server/providers/gift-cards.ts';
import { guardProviders } from '../../server/providers/index.ts';
import { showsCode } from '../support/digits.ts';
import { paymentsHere } from '../support/in-process.ts';
import { createAccount, createGiftCard } from '../support/records.ts';
import { productionEnv, startTestService, testSecrets, type TestService } from '../support/service.ts';

const number = '4242424242424242';
const spaced = '4242 4242 4242 4242';
const code = '9876';

let verifyCard: VerifyCard;
let describeCard: DescribeCard;
let giftCards: GiftCardProvider;
let service: TestService;
let token: string;
beforeAll(async () => {
  service = await startTestService({
    config: { environment: 'production', secrets: testSecrets() },
    providers: {
      verifyCard: (...given) => verifyCard(...given),
      describeCard: (given) => describeCard(given),
      giftCards: (...given) => giftCards(...given),
    },
  });
  for (const id of ['shop', 'other']) await createAccount(db(), { id, display_name: id });
  token = (await service.pair()).token('*.read', '*.write');
});
afterAll(() => service[Symbol.asyncDispose]());
beforeEach(() => {
  verifyCard = () => Promise.resolve({ status: 'succeeded' });
  describeCard = () => ({ card_type: 'credit', card_issuer_name: 'A bank' });
  giftCards = (cards) =>
    Promise.resolve(cards.map(() => ({ balance: 5, currency: 'EUR', expirationDate: null })));
  service.logs.length = 0;
});

const db = () => service.service.database.db;
const post = (path: string, body: object) =>
  service.call('POST', path, { token, body, headers: { 'X-Service-Merchant-Account-ID': 'shop' } });
const store = async (given: object = {}) => {
  const card = { method: 'card', number, expiration_date: '12/39', security_code: code, ...given };
  const { status, body } = await post('/payment-methods', card);
  expect(status).toBe(201);
  return body as {
    id: string;
    status: string;
    merchant_account_id: string;
    details: { card_type: string | null; card_issuer_name: string | null };
  };
};
const rowOf = (id: string) =>
  db().selectFrom('payment_methods').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

interface Line {
  level: number;
  msg?: string;
  reason?: string;
  err?: { message: string; stack: string };
}
const warnings = () =>
  service.logs.map((line) => JSON.parse(line) as Line).filter(({ level }) => level >= 40);
const expectNoNumber = (text: string) => {
  for (const spelling of [number, spaced]) expect(text).not.toContain(spelling);
};
const expectNothingIn = (text: string) => {
  expectNoNumber(text);
  expect(showsCode(text, code)).toBe(false);
};

/** As libraries make them: what was sent is in the error, its causes and its properties. */
function talkative(quoted: string): Error {
  const cause = new Error(`socket closed while sending cvc=${quoted}`);
  const error = new Error(`HTTP 500 for ${spaced}, code ${code}`, { cause });
  error.name = `Refused ${quoted}`;
  return Object.assign(error, { config: { data: { cvc: code, number } }, code: quoted });
}

describe('an error that quotes the card', () => {
  it.each<[string, () => unknown]>([
    ['an error with a cause', () => talkative(code)],
    ['several errors', () => new AggregateError([talkative(code)], '')],
    [
      'errors without end',
      () =>
        Object.assign(new AggregateError([]), {
          *errors() {
            for (;;) yield talkative(code);
          },
        }),
    ],
    ['a cause of itself', () => Object.assign(new Error(code), { cause: talkative(number) })],
    [
      'an error that cannot be read',
      () =>
        Object.defineProperty(new Error(), 'message', {
          get: () => {
            throw talkative(code);
          },
        }),
    ],
    ['a text', () => `${number} ${code}`],
    ['nothing', () => undefined],
    ['an object', () => ({ number, code, toString: () => code })],
  ])('%s: neither log nor database nor command shows number and code', async (_name, make) => {
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what a provider may do
    verifyCard = () => Promise.reject(make());
    const { id, status } = await store();
    expect(status).toBe('processing');
    const [line, ...more] = warnings();
    expect([line?.msg, more]).toEqual(['the card verifier failed; the card stays in processing', []]);
    expect(line?.err?.stack).toBeTypeOf('string');
    const { verification_error: stored } = await rowOf(id);
    expect(stored).not.toBe('');
    expectNothingIn(service.logs.join('') + String(stored));
  });

  it('says its reason, those of its causes, and where it was made', async () => {
    verifyCard = () => Promise.reject(talkative('nothing'));
    const { id } = await store();
    const [line] = warnings();
    expect(line?.err?.message).toBe(
      'HTTP 500 for [redacted], code [redacted]: socket closed while sending cvc=nothing',
    );
    expect(line?.err?.stack).toMatch(/at talkative \(/);
    expect((await rowOf(id)).verification_error).toBe(line?.err?.message);
  });

  it('thrown before there is a promise, and by what it returned', async () => {
    verifyCard = () => {
      throw talkative(code);
    };
    expect((await store()).status).toBe('processing');
    verifyCard = () =>
      Promise.resolve({
        get status(): never {
          throw talkative(code);
        },
      });
    expect((await store()).status).toBe('processing');
    verifyCard = () => Promise.resolve({ status: `${number} ${code}` as 'failed' });
    expect((await store()).status).toBe('processing');
    expect(warnings()).toHaveLength(3);
    expectNothingIn(service.logs.join(''));
  });

  it('is not shown by payments payment-methods verify either', async () => {
    verifyCard = () => Promise.reject(new Error('down'));
    const { id } = await store();
    const folder = await mkdtemp(join(tmpdir(), 'provider-faults-'));
    const providers = join(folder, 'providers.mjs');
    await writeFile(
      providers,
      `export const verifyCard = async ({ number }) => {
        throw new Error('no', { cause: new Error('sent ' + number.replace(/.{4}/g, '$& ')) });
      };`,
    );
    const env = { ...productionEnv(service.config), PROVIDERS: providers };
    const { status, stdout, stderr } = await paymentsHere(['payment-methods', 'verify', id, '--json'], env);
    await rm(folder, { recursive: true });
    expect([status, stdout]).toEqual([1, expect.stringContaining('no: sent [redacted]')]);
    expectNothingIn(stdout + stderr);
  });

  it('of a gift card provider has no number and PIN in the log, and a TimeoutError is still a 504', async () => {
    const card = { number: '6006490000000017', pin: 'a"b & q7q' };
    giftCards = ([given]) => {
      const quoted = [JSON.stringify(given), encodeURIComponent(given?.pin ?? ''), given?.pin].join(' ');
      return Promise.reject(new DOMException(`no answer to ${quoted}`, 'TimeoutError'));
    };
    // A PIN that is part of the error's name must not change what it means.
    const other = { number: '6006490000000025', pin: 'error' };
    expect((await post('/gift-cards/balances', { items: [card, other] })).status).toBe(504);
    giftCards = ([given]) =>
      Promise.reject(new Error(`refused: ${new URLSearchParams({ ...given }).toString()}`));
    expect((await post('/gift-cards/balances', { items: [card] })).status).toBe(502);
    const texts = warnings().map(({ err }) => `${err?.message} ${err?.stack}`);
    expect(texts).toHaveLength(2);
    for (const text of texts) {
      for (const hidden of [card.number, card.pin, 'q7q', 'a%22b', 'a\\"b'])
        expect(text).not.toContain(hidden);
    }
  });
});

describe('describeCard', () => {
  it('that is missing is not counted as called', () => {
    const note = vi.fn();
    const missing = { giftCards: undefined, verifyCard: undefined, describeCard: undefined };
    const { describeCard } = guardProviders(missing, { hasApprovals: false, note });
    expect(describeCard('4111111111111111', () => undefined)).toEqual({
      card_type: null,
      card_issuer_name: null,
    });
    expect(note).not.toHaveBeenCalled();
  });

  it('sets type and issuer of a card, and nothing else', async () => {
    const more = {
      id: '0a1b2c3d-0000-4000-8000-00000000ffff',
      merchant_account_id: 'other',
      status: 'failed',
    };
    describeCard = () => ({ card_type: 'debit', card_issuer_name: 'Bank', ...more });
    const { id, status, merchant_account_id, details } = await store();
    expect([id === more.id, status, merchant_account_id]).toEqual([false, 'succeeded', 'shop']);
    expect(details).toMatchObject({ card_type: 'debit', card_issuer_name: 'Bank' });
    const rows = await db().selectFrom('payment_methods').select('id').where('id', '=', more.id).execute();
    expect(rows).toEqual([]);
    expect(warnings()).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['no name', {}],
    ['nulls', { card_type: null, card_issuer_name: null }],
  ])('that knows %s is no fault', async (_name, answer) => {
    describeCard = () => answer as never;
    expect((await store()).details).toMatchObject({ card_type: null, card_issuer_name: null });
    expect(warnings()).toEqual([]);
  });

  const fail = (): never => {
    throw talkative(code);
  };
  it.each<[string, () => unknown]>([
    ['throws', fail],
    ['returns a promise that is rejected', () => Promise.reject(talkative(code))],
    ['returns a promise', () => Promise.resolve({ card_type: 'debit', card_issuer_name: 'Bank' })],
    ['returns a text', () => 'debit'],
    ['knows another type', () => ({ card_type: 'gold', card_issuer_name: 'Bank' })],
    ['has a list of types', () => ({ card_type: ['debit'], card_issuer_name: 'Bank' })],
    ['has no text as the name', () => ({ card_type: 'debit', card_issuer_name: { en: 'Bank' } })],
    ['has an endless name', () => ({ card_type: 'debit', card_issuer_name: 'x'.repeat(201) })],
    ['has a name that cannot be stored', () => ({ card_type: 'debit', card_issuer_name: 'A\u0000' })],
    ['has another card number as the name', () => ({ card_issuer_name: 'Bank 5555 5555 5555 4444' })],
    ['has half a character', () => ({ card_type: 'debit', card_issuer_name: 'A\ud83d' })],
    [
      'has a property that throws',
      () => ({
        card_type: 'debit',
        get card_issuer_name() {
          return fail();
        },
      }),
    ],
  ])('that %s describes nothing, and is named in the log', async (_name, answer) => {
    describeCard = answer as DescribeCard;
    const { status, details } = await store();
    expect([status, details.card_type, details.card_issuer_name]).toEqual(['succeeded', null, null]);
    expect(warnings()).toMatchObject([
      { level: 40, msg: 'describeCard failed; the card has no type and issuer' },
    ]);
    expectNoNumber(service.logs.join(''));
  });

  it('has no issuer whose name is the number or the code, also of a number that is none', async () => {
    const odd = '9999000000000015';
    describeCard = (given) => ({ card_type: 'debit', card_issuer_name: `no issuer for ${given}` });
    verifyCard = () => Promise.resolve({ status: 'succeeded', card_issuer_name: `code ${code}` });
    const stored = [await store(), await store({ number: odd })];
    expect(stored.map(({ status, details }) => [status, details.card_issuer_name])).toEqual([
      ['succeeded', null],
      ['failed', null],
    ]);
  });

  it.each([
    ['async', 'it returned a promise'],
    ['', '[redacted] is unknown'],
  ])('that fails does not keep the account updater from recording a new number: %s', async (kind, reason) => {
    const { id } = await store();
    const folder = await mkdtemp(join(tmpdir(), 'provider-faults-'));
    const env = { ...productionEnv(service.config), PROVIDERS: join(folder, 'providers.mjs') };
    await writeFile(
      env.PROVIDERS,
      `export const describeCard = ${kind} (number) => { throw new Error(\`\${number} is unknown\`); };`,
    );
    const args = ['payment-methods', 'found-replacement', id, '--expiration-date', '11/44', '--new-number'];
    const { status, stdout, stderr } = await paymentsHere(args, env, '5555555555554444');
    await rm(folder, { recursive: true });
    expect([status, JSON.parse(stdout)]).toMatchObject([0, { id, has_replacement: true }]);
    expect(stderr).toBe(`describeCard failed; the card has no type and issuer: ${reason}\n`);
    expect((await rowOf(id)).replacement).toMatchObject({ label: '4444', card_type: null });
  });
});

describe('a verdict', () => {
  it.each<[string, object]>([
    ['an endless name', { card_issuer_name: 'x'.repeat(201) }],
    ['a name that cannot be stored', { card_issuer_name: '\u0000' }],
    ['another type', { card_type: 'gold' }],
    ['no verdict', { status: undefined }],
  ])('with %s leaves the card in processing', async (_name, more) => {
    verifyCard = () => Promise.resolve({ status: 'succeeded', ...more });
    expect(await store()).toMatchObject({
      status: 'processing',
      details: { card_type: 'credit', card_issuer_name: 'A bank' },
    });
  });
});

describe('a balance', () => {
  const card = { number: '6006490000000017', pin: '4711' };
  const check = async (...items: object[]) => {
    const { status, body } = await post('/gift-cards/balances', { items: items.length > 0 ? items : [card] });
    return { status, items: (body as { items: Record<string, unknown>[] }).items };
  };
  const sound = { balance: 5, currency: 'EUR', expirationDate: null };
  const failed = { errorCode: 'expired_card', rawCode: '54', rawMessage: 'Expired' };

  it('tells nobody which guess is the PIN of a stored card', async () => {
    const pin = '8014';
    const card = { merchant_account_id: 'shop', number: '6006490000009999', pin };
    const made = await createGiftCard({ db: db(), secrets: service.secrets }, card);
    giftCards = (cards) =>
      Promise.resolve(
        cards.map(
          ({ number }) =>
            ({ ...failed, rawMessage: `card ************${number.slice(-4)} is unknown` }) as never,
        ),
      );
    const guesses = ['8012', '8013', '8014', '8015'].map((last) => ({
      number: `600649000000${last}`,
      pin: 'x1y2',
    }));
    const { items } = await check({ id: made.id }, ...guesses);
    const said = items.slice(1).map((item) => item.balance_raw_error_message);
    expect(said).toEqual(guesses.map(({ number }) => `card ************${number.slice(-4)} is unknown`));
  });

  it('with an error code beside it is a failed look-up', async () => {
    giftCards = () => Promise.resolve([{ ...sound, ...failed } as never]);
    expect((await check()).items).toMatchObject([
      {
        balance: null,
        currency: null,
        balance_error_code: 'expired_card',
        balance_raw_error_code: '54',
        balance_raw_error_message: 'Expired',
      },
    ]);
  });

  // oxlint-disable-next-line no-sparse-arrays -- what a provider may return
  const sparse: unknown[] = [sound, , sound];
  const date = (expirationDate: unknown) => ({ ...sound, expirationDate });
  it.each<[string, unknown, RegExp]>([
    ['a day that does not exist', date('2026-02-30T00:00:00Z'), /expirationDate/],
    ['a month that does not exist', date('2026-13-01T00:00:00Z'), /expirationDate/],
    ['an hour that does not exist', date('2026-01-01T24:00:00Z'), /expirationDate/],
    ['a zone that does not exist', date('2026-01-01T00:00:00+24:00'), /expirationDate/],
    ['a year beyond 9999 in UTC', date('9999-12-31T23:59:59-01:00'), /expirationDate/],
    ['a year before 0 in UTC', date('0000-01-01T00:00:00+01:00'), /expirationDate/],
    ['a date without a time', date('2026-01-01'), /expirationDate/],
    ['a date as an object', date(new Date()), /expirationDate/],
    ['no date', { balance: 5, currency: 'EUR' }, /expirationDate/],
    ['a list of currencies', { ...sound, currency: ['USD'] }, /currency/],
    ['a currency with a line end', { ...sound, currency: 'USD\n' }, /currency/],
    ['a fraction', { ...sound, balance: 1.5 }, /balance/],
    ['a debt', { ...sound, balance: -1 }, /balance/],
    ['a balance as a text', { ...sound, balance: '5' }, /balance/],
    ['a balance as an object', { ...sound, balance: { valueOf: () => 5 } }, /balance/],
    ['an unknown code', { ...failed, errorCode: 'toString' }, /errorCode/],
    ['a code that is null', { ...failed, errorCode: null }, /errorCode/],
    ['a raw code that is a number', { ...failed, rawCode: 54 }, /rawCode/],
    ['a raw message that is a list', { ...failed, rawMessage: ['x'] }, /rawMessage/],
    [
      'a property that throws',
      {
        get errorCode() {
          throw talkative('x');
        },
      },
      /HTTP 500/,
    ],
    ['null', null, /is no object/],
  ])('with %s is 502, with the reason in the log', async (_name, balance, reason) => {
    giftCards = () => Promise.resolve([balance as never]);
    expect((await check()).status).toBe(502);
    expect(warnings()).toMatchObject([
      { level: 50, msg: 'the request failed', err: { message: expect.stringMatching(reason) as string } },
    ]);
  });

  it.each<[string, unknown, RegExp]>([
    ['a sparse list', sparse, /balance 2 of 3 is no object/],
    ['an object', { length: 3 }, /no list of 3/],
    ['nothing', undefined, /no list of 3/],
    ['too many', [sound, sound, sound, sound], /no list of 3/],
  ])('%s instead of three is 502, with the reason in the log', async (_name, balances, reason) => {
    giftCards = () => Promise.resolve(balances as never);
    expect((await check(card, card, card)).status).toBe(502);
    expect(warnings()).toMatchObject([{ err: { message: expect.stringMatching(reason) as string } }]);
  });

  it('is read from a provider that returns no promise', async () => {
    giftCards = () => [sound] as never;
    expect(await check()).toMatchObject({ status: 200, items: [{ balance: 5 }] });
  });

  it.each([
    ['2030-01-01T00:00:00Z', '2030-01-01T00:00:00.000Z'],
    ['2030-01-01t01:00:00.1234+02:00', '2029-12-31T23:00:00.123Z'],
    ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ])('until %s is shown as %s', async (given, shown) => {
    giftCards = () => Promise.resolve([{ ...sound, expirationDate: given }]);
    expect((await check()).items).toMatchObject([{ expiration_date: shown }]);
  });

  it('does not tell number and PIN of any card of the call, of stored ones neither', async () => {
    const secret = { merchant_account_id: 'shop', number: '6006490000000025', pin: '80-15' };
    const stored = await createGiftCard({ db: db(), secrets: service.secrets }, secret);
    giftCards = (cards) => {
      const quoted = cards.map(({ number, pin }) => `${number.replace(/.{4}/g, '$&-')} / ${pin}`).join(', ');
      const [first] = cards;
      // It may also change what it is given.
      for (const given of cards) given.number = '****';
      const shown = { rawCode: `E${first?.pin ?? ''}`, rawMessage: `unknown: ${quoted}` };
      return Promise.resolve(cards.map(() => ({ errorCode: 'unknown_error', ...shown })));
    };
    const { items } = await check({ id: stored.id }, card);
    expect(items).toMatchObject([
      { last4: '0025', balance_raw_error_code: 'E[redacted]' },
      {
        last4: '0017',
        balance_raw_error_message: 'unknown: [redacted]- / [redacted], [redacted]- / [redacted]',
      },
    ]);
  });

  it('has raw texts of 200 characters at most, without half a character and half a number', async () => {
    const texts = { rawCode: 'x'.repeat(300), rawMessage: `${'x'.repeat(199)}😀` };
    giftCards = () => Promise.resolve([{ errorCode: 'unknown_error', ...texts }]);
    expect((await check()).items).toMatchObject([
      { balance_raw_error_code: 'x'.repeat(200), balance_raw_error_message: 'x'.repeat(199) },
    ]);
    const late = `${'x'.repeat(195)}${card.number}`;
    giftCards = () => Promise.resolve([{ errorCode: 'unknown_error', rawCode: null, rawMessage: late }]);
    expect((await check()).items).toMatchObject([
      { balance_raw_error_code: null, balance_raw_error_message: `${'x'.repeat(195)}[reda` },
    ]);
  });
});
