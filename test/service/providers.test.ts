// What an installation plugs in: before the unit of work, within a deadline, and without a simulator in production.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDeadline } from '../../server/kit/rules/async.ts';
import type { VerifyCard } from '../../server/providers/cards.ts';
import { loadProviders } from '../../server/providers/index.ts';
import { approvalPath } from '../../server/resources/payment-methods/rules.ts';
import { eventually } from '../support/data-dir.ts';
import { paymentsHere } from '../support/in-process.ts';
import { createAccount } from '../support/records.ts';
import {
  productionEnv,
  startTestService,
  testSecrets,
  type TestService,
  type TestServiceOptions,
} from '../support/service.ts';

const card = { method: 'card', number: '4242424242424242', expiration_date: '12/39', security_code: '123' };
const giftCard = { number: '9999000050001234', pin: '1111' };

/** Production, with an account of its own. */
async function production(options: TestServiceOptions = {}): Promise<TestService> {
  const service = await startTestService({
    ...options,
    config: { environment: 'production', secrets: testSecrets(), ...options.config },
  });
  await createAccount(service.service.database.db, { id: 'shop', display_name: 'Shop' });
  return service;
}

async function post(service: TestService, path: string, body: unknown) {
  const { token } = await service.pair();
  return service.call('POST', path, { token: token('*.read', '*.write'), body });
}

describe('in production, without providers', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await production();
  });
  afterAll(() => service[Symbol.asyncDispose]());

  it('the start says that there is no gift card provider', () => {
    expect(service.logs.join('')).toContain('no gift card provider is configured');
  });

  it('a look-up returns 502, in the shape of the contract, and PINs are not counted', async () => {
    const { status, body } = await post(service, '/gift-cards/balances', { items: [giftCard] });
    expect([status, body]).toEqual([502, expect.objectContaining({ code: 'bad_gateway' })]);
    const { db } = service.service.database;
    expect(await db.selectFrom('number_buckets').selectAll().execute()).toEqual([]);
  });

  it('what needs no look-up is answered', async () => {
    const items = [{ id: '356d56e5-fe16-42ae-97ee-8d55d846ae2e' }];
    const { status, body } = await post(service, '/gift-cards/balances', { items });
    expect([status, body]).toMatchObject([200, { items: [{ balance_error_code: 'invalid_gift_card' }] }]);
  });

  it('a number of the sandbox is a card like any other', async () => {
    const { body } = await post(service, '/payment-methods', { ...card, number: '5105105105105100' });
    expect(body).toMatchObject({ status: 'succeeded', details: { card_type: null } });
    // Nor has it a page on which anybody could approve or decline it.
    for (const method of ['GET', 'POST'])
      expect((await service.call(method, approvalPath((body as { id: string }).id))).status).toBe(404);
  });

  it('payments seed refuses', async () => {
    const args = ['seed', '--transactions', '1'];
    const { status, stderr } = await paymentsHere(args, productionEnv(service.config));
    expect([status, stderr]).toEqual([1, 'Sample transactions can be created only in the sandbox.\n']);
  });
});

describe('a card verifier', () => {
  const verified = async (verifyCard: VerifyCard, body: object = card) => {
    await using service = await production({ providers: { verifyCard } });
    const answer = await post(service, '/payment-methods', body);
    return { ...answer, logs: service.logs.join('') };
  };

  it('decides, and is told the security code', async () => {
    const seen: unknown[] = [];
    const { body } = await verified((given) => {
      seen.push(given);
      return Promise.resolve({ status: 'failed', card_type: 'debit', card_issuer_name: 'A bank' });
    });
    expect(body).toMatchObject({
      status: 'failed',
      details: { card_type: 'debit', card_issuer_name: 'A bank' },
    });
    expect(seen).toEqual([
      { number: card.number, expiration_date: card.expiration_date, security_code: card.security_code },
    ]);
  });

  it('that fails is named with request, account, card and reason, in the log and in the history', async () => {
    const verifyCard: VerifyCard = ({ number, security_code }) =>
      Promise.reject(
        new Error(`HTTP 503 for ${number}\u0000 ${security_code}, ${number.replace(/.{4}/g, '$&_')}`),
      );
    await using service = await production({ providers: { verifyCard } });
    const { body, headers } = await post(service, '/payment-methods', { ...card, security_code: '987' });
    const { id } = body as { id: string };
    const lines = service.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.find(({ msg }) => String(msg).startsWith('the card verifier failed'))).toMatchObject({
      requestId: headers.get('x-request-id'),
      account: 'shop',
      paymentMethod: id,
      err: { message: expect.stringMatching(/^HTTP 503 for/) as string },
    });
    expect(service.logs.join('')).not.toContain(card.number);
    const env = { ENVIRONMENT: 'production', DATABASE_URL: service.config.databaseUrl };
    const { stdout } = await paymentsHere(['payment-methods', 'show', '--history', id, '--json'], env);
    expect((JSON.parse(stdout) as { items: unknown[] }).items).toContainEqual(
      expect.objectContaining({
        what: 'card verifier failed',
        result: 'HTTP 503 for [redacted]  [redacted], [redacted]_',
      }),
    );
  });

  it.each([
    ['no status', {}],
    ['an approval, for which production has no page', { status: 'buyer_approval_required' }],
    ['an unknown status', { status: 'maybe' }],
  ])('that answers with %s leaves the card in processing', async (_name, verdict) => {
    const { body, logs } = await verified(() => Promise.resolve(verdict as never));
    expect(body).toMatchObject({ status: 'processing', approval_url: null });
    expect(logs).toMatch(/the card verifier returned the status .*, which cannot be used/);
  });

  it('decides nothing but the status and the description of the card', async () => {
    const { body } = await verified(() =>
      Promise.resolve({ status: 'succeeded', id: 'ch_1', merchant_account_id: 'other' } as never),
    );
    expect(body).toMatchObject({ status: 'succeeded', merchant_account_id: 'shop' });
  });

  it('is not asked about a card whose own digits say that it cannot be used', async () => {
    let calls = 0;
    const verify: VerifyCard = () => {
      calls += 1;
      return Promise.resolve({ status: 'succeeded' });
    };
    const { body } = await verified(verify, { ...card, number: '4242424242424241' });
    expect([body, calls]).toMatchObject([{ status: 'failed' }, 0]);
  });

  it('is called before the transaction, never inside of it: it holds no connection', async () => {
    let isFree = false;
    const verifyCard: VerifyCard = async () => {
      // A statement that is not part of the request, such as the note of a key pair's last use, ends in a moment.
      await eventually(() => service.service.database.usage().inUse === 0, 'no connection is in use', 3);
      isFree = true;
      return { status: 'succeeded' };
    };
    await using service = await production({ providers: { verifyCard } });
    expect((await post(service, '/payment-methods', card)).status).toBe(201);
    expect(isFree).toBe(true);
  });
});

describe('the deadline', () => {
  it('ends a call that ignores its signal, and tells the provider', async () => {
    let signal: AbortSignal | undefined;
    const call = withDeadline((given) => {
      signal = given;
      return new Promise(() => undefined);
    }, 20);
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(signal?.aborted).toBe(true);
  });
});

describe('PROVIDERS', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'providers-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const load = async (text: string | undefined, patience?: number) => {
    const file = join(folder, `${crypto.randomUUID()}.mjs`);
    if (text !== undefined) await writeFile(file, text);
    return loadProviders({ environment: 'production', providers: file }, patience);
  };

  it('brings what the module exports, and nothing else', async () => {
    const { giftCards, verifyCard } = await load('export const giftCards = () => [];');
    expect([typeof giftCards, verifyCard]).toEqual(['function', undefined]);
  });

  it.each([
    ['that is not there', undefined, /cannot be loaded/],
    ['that does not parse', 'export const = 1', /cannot be loaded/],
    [
      'that exports nothing',
      'const a = 1;',
      /must export functions named giftCards, verifyCard, describeCard/,
    ],
    [
      'with a default only',
      'export default { giftCards: () => [] };',
      /verifyCard, describeCard; its default is not read\.$/,
    ],
    ['with a misspelt name', 'export const giftcards = () => [];', /it exports giftcards/],
    ['with something else than a function', 'export const giftCards = 1;', /it exports giftCards/],
  ])('names a module %s', async (_name, text, message) => {
    await expect(load(text)).rejects.toThrow(message);
  });

  it('names a module whose top level waits for something that never comes', async () => {
    const text = 'await new Promise(() => {}); export const giftCards = () => [];';
    await expect(load(text, 100)).rejects.toThrow(
      /cannot be loaded \(its top level is not done within 0\.1 s\)\.$/,
    );
  });
});
