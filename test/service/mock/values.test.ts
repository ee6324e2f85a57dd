// Test values choose the same outcomes in the mock and the sandbox, and created records contain what was sent. Both get the
// same requests; what must differ (IDs, times, fingerprints, URLs) is not compared.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OperationId } from '../../../generated/operations.ts';
import { loadContract } from '../../../server/kit/contract/load.ts';
import { sandboxCards, slowMilliseconds } from '../../../server/providers/simulated.ts';
import type { TestService } from '../../support/service.ts';
import { rightRequest, startBoth, type TestMock } from './support.ts';

let mock: TestMock;
let service: TestService;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ mock, service, stop } = await startBoth());
});
afterAll(() => stop());

async function both(id: OperationId, body: unknown, headers: Record<string, string> = {}) {
  const { method, path } = rightRequest(id);
  const token = service.token('*.read', '*.write');
  return Promise.all([
    mock.call(method, path, { body, headers }),
    service.call(method, path, { body, headers, token }),
  ]);
}

type Json = Record<string, unknown>;

/** The same card, but for what each of them makes. */
async function bothStore(body: Json) {
  const [mocked, real] = await both('createPaymentMethod', body);
  const made = ['id', 'fingerprint', 'created_at', 'updated_at', 'approval_url', 'buyer'];
  const shared = (card: Json) =>
    Object.fromEntries(Object.entries(card).filter(([name]) => !made.includes(name)));
  expect(mocked.status).toBe(real.status);
  expect(shared(mocked.body)).toEqual(shared(real.body));
  return [mocked, real] as const;
}

describe('POST /payment-methods', () => {
  const card = (number: string, expiration_date = '12/39') => ({ method: 'card', number, expiration_date });
  const cases: [name: string, body: Json][] = [
    ['any other number', card('4242424242424242')],
    ['a number of 13 digits', card('4222222222222')],
    ['an unknown scheme', card('9999999999999995')],
    ['a wrong check digit', card('4111111111111112')],
    ['a wrong check digit of a documented beginning', card('5105105105105101')],
    ['a date that has passed', card('4012888888881881', '01/24')],
    ['a month that does not exist', card('5105105105105100', '13/39')],
    ['month zero', card('4111111111111111', '00/39')],
    [
      'a security code and an identifier',
      { ...card('4111111111111111'), security_code: '123', external_identifier: 'mine' },
    ],
    [
      'the buyer of the examples by ID',
      { ...card('4111111111111111'), buyer_id: 'fe26475d-ec3e-4884-9553-f7356683f7f9' },
    ],
    [
      'the buyer of the examples by name',
      { ...card('4111111111111112'), buyer_external_identifier: 'buyer-412' },
    ],
    [
      'a buyer that is not there',
      { ...card('4012888888881881'), buyer_external_identifier: 'no-such-buyer' },
    ],
  ];

  it.each(cases)('%s', async (_name, body) => {
    const [mocked, real] = await bothStore(body);
    const [ours, theirs] = [mocked, real].map(
      (answer) => (answer.body as Json).buyer as Json | null | undefined,
    );
    const named = (buyer: Json | null | undefined) =>
      buyer && [buyer.id, buyer.external_identifier, buyer.merchant_account_id];
    expect(named(ours)).toEqual(named(theirs));
  });

  it('has a new ID and the time of the call, and the same card has the same fingerprint', async () => {
    const store = () => mock.call('POST', '/payment-methods', { body: card('4242424242424242') });
    const [one, other] = (await Promise.all([store(), store()])).map((answer) => answer.body as Json);
    expect(one?.id).not.toBe(other?.id);
    expect(one?.fingerprint).toBe(other?.fingerprint);
    expect(Math.abs(Date.parse(String(one?.created_at)) - Date.now())).toBeLessThan(60_000);
  });

  it('the approval URL leads to a page that redirects back', async () => {
    const body = { ...card('5105105105105100'), redirect_url: "https://shop.example/?a='b'&c" };
    const { body: made } = await mock.call('POST', '/payment-methods', { body });
    const { approval_url: url } = made as { approval_url: string };
    expect(url.startsWith(`${mock.url}/sandbox/approvals/`)).toBe(true);
    const page = await (await fetch(url)).text();
    expect(page).toContain('href="https://shop.example/?a=&#39;b&#39;&#38;c"');
  });
});

describe('POST /gift-cards/balances', () => {
  /** Another number for each PIN, because the sandbox accepts ten of one. */
  const numberFor = (pin: string) => `999900005000${pin.padStart(4, '0')}`;
  it.each(['1', '1234', '9013', '9000'])('PIN %s', async (pin) => {
    const [mocked, real] = await both('checkGiftCardBalances', { items: [{ number: numberFor(pin), pin }] });
    expect(mocked.body).toEqual(real.body);
  });

  it('stored and typed-in cards, known and unknown, in the order of the request', async () => {
    const items = [
      { id: '0a1b2c3d-0000-4000-8000-00000000ffff' },
      { number: '9999123456780000', pin: '1' },
      { id: '356d56e5-fe16-42ae-97ee-8d55d846ae2e' },
      { number: '1234567890123456789', pin: '1' },
      { number: numberFor('9002'), pin: '9002' },
    ];
    const headers = { 'X-Service-Merchant-Account-ID': 'default' };
    const [mocked, real] = await both('checkGiftCardBalances', { items }, headers);
    expect(mocked.body).toEqual(real.body);
  });
});

// Uses the table in the docs, not the one in the code of mock and service.
describe('what the docs promise', () => {
  const { info, components } = loadContract().document as unknown as {
    info: { description: string };
    components: { schemas: { BalanceErrorCode: { enum: string[] } } };
  };
  const rows = info.description
    .split(/^# Sandbox$/m)[1]
    ?.split(/^# /m)[0]
    ?.split('\n')
    .map((line) => line.split('|').map((cell) => cell.replaceAll('`', '').trim()));
  const cards = (rows ?? []).flatMap(([, number = '', , status = '']) =>
    /^\d{13,19}$/.test(number) ? [{ number, status }] : [],
  );
  const pins = (rows ?? []).flatMap(([, pin = '', outcome = '']) =>
    /^\d{4}$/.test(pin) ? [{ pin, outcome }] : [],
  );

  it('the docs contain the tables', () => {
    expect(cards.map(({ number }) => number).sort()).toEqual(Object.keys(sandboxCards).sort());
    expect(pins.map(({ pin }) => pin)).toEqual(['9100', '9502', '9504']);
    expect(info.description).toContain('`9001` to `9012`');
  });

  it.each(cards)('card $number is $status in both', async ({ number, status }) => {
    const answers = await bothStore({ method: 'card', number, expiration_date: '12/39' });
    expect(answers.map((answer) => (answer.body as Json).status)).toEqual([status, status]);
  });

  it.each(
    components.schemas.BalanceErrorCode.enum.map((code, index) => ({ code, pin: String(9001 + index) })),
  )('PIN $pin is $code in both', async ({ code, pin }) => {
    // Another number for each PIN, because the sandbox accepts ten of one.
    const items = [{ number: `999900005000${pin}`, pin }];
    const [mocked, real] = await both('checkGiftCardBalances', { items });
    expect(real.body).toMatchObject({ items: [{ balance_error_code: code }] });
    expect(mocked.body).toEqual(real.body);
  });

  it('the PINs of the whole call lead to the same in both', async () => {
    const all = pins.map(async ({ pin, outcome }) => {
      const status = Number(/\b5\d\d\b/.exec(outcome)?.[0] ?? 200);
      const number = `999900005000${pin}`;
      const items = [
        { number, pin: '1234' },
        { number, pin },
      ];
      const [mocked, real] = await both('checkGiftCardBalances', { items });
      expect([pin, mocked.status, real.status]).toEqual([pin, status, status]);
      expect(mocked.body).toEqual(real.body);
    });
    await Promise.all(all);
  });

  it('PIN 9100 delays the answer, in both: one that was asked for later arrives first', async () => {
    expect(slowMilliseconds).toBe(2_000);
    const { method, path } = rightRequest('checkGiftCardBalances');
    const token = service.token('*.read');
    const orderOf = async ({ call }: TestMock | TestService) => {
      const order: string[] = [];
      const ask = async (pin: string) => {
        await call(method, path, { token, body: { items: [{ number: '9999000050009100', pin }] } });
        order.push(pin);
      };
      await Promise.all(['9100', '1234'].map(ask));
      return order;
    };
    expect(await Promise.all([orderOf(mock), orderOf(service)])).toEqual(Array(2).fill(['1234', '9100']));
  });
});
