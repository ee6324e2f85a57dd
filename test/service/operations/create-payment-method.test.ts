import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../../generated/operations.ts';
import { loadContract } from '../../../server/kit/contract/load.ts';
import { cardLimit } from '../../../server/resources/number-limits/velocity.ts';
import { untilAnswered } from '../../support/call.ts';
import { card } from '../../support/card.ts';
import { showsCode } from '../../support/digits.ts';
import { describeOperation } from '../../support/operation.ts';
import { createBuyer, forgetNumbersEverywhere } from '../../support/records.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../../support/service.ts';

const velocityLimit = operations.createPaymentMethod.extensions['x-velocity-limit'];
const coded = { ...card, security_code: '737' };

interface PaymentMethod {
  id: string;
  status: string;
  scheme: string;
  label: string;
  fingerprint: string | null;
  details: { bin: string };
  buyer: { id: string } | null;
  approval_url: string | null;
  merchant_account_id: string;
}

describeOperation('createPaymentMethod', { valid: { body: coded } }, (frame) => {
  const create = async (body: object, headers: Record<string, string> = {}) => {
    const answer = await frame.call({ body: { ...coded, ...body }, headers });
    return { ...answer, method: answer.body as PaymentMethod };
  };
  const buyer = (account = 'default') =>
    createBuyer(frame.service.service.database.db, {
      merchant_account_id: account,
      external_identifier: `buyer-${randomUUID()}`,
      display_name: 'Jane Doe',
      account_number: null,
      billing_details: null,
    });

  let second: TestService;
  beforeAll(async () => {
    const { databaseUrl, dataDir, secrets } = frame.service.config;
    second = await startTestService({ config: { databaseUrl, dataDir, secrets } });
  });
  afterAll(() => second[Symbol.asyncDispose]());
  /** All at the same time, by turns at two instances. */
  const atOnce = (bodies: readonly object[]) => {
    const token = frame.service.token('*.write');
    return Promise.all(
      bodies.map((body, index) => {
        const headers = { 'Idempotency-Key': randomUUID() };
        const request = { token, body: { ...coded, ...body }, headers };
        return untilAnswered(() =>
          (index % 2 ? second : frame.service).call('POST', '/payment-methods', request),
        );
      }),
    );
  };

  describe('201 stores a card', () => {
    it('answers with the payment method, and never with the number or the security code', async () => {
      const { status, method, text } = await create({ external_identifier: 'first' });
      expect(status).toBe(201);
      expect(method).toMatchObject({
        status: 'succeeded',
        scheme: 'visa',
        label: '1111',
        details: { bin: '41111111', card_type: 'credit', card_issuer_name: 'Sandbox Bank' },
        expiration_date: '12/39',
        external_identifier: 'first',
        merchant_account_id: 'default',
        buyer: null,
        usage_count: 0,
        has_replacement: false,
      });
      expect(text).not.toContain(coded.number);
      expect(showsCode(text, '737')).toBe(false);
    });

    it('gives a failed card no fingerprint, and the same card another one in another account', async () => {
      const failed = await create({ expiration_date: '01/20' });
      expect(failed.method).toMatchObject({ status: 'failed', fingerprint: null });
      const accounts = ['default', 'marketplace'].map((account) =>
        create({}, { 'X-Service-Merchant-Account-ID': account }),
      );
      const [one, two] = await Promise.all(accounts);
      expect(one?.method.fingerprint).toMatch(/^[0-9a-f]{64}$/);
      expect(two?.method.fingerprint).toMatch(/^[0-9a-f]{64}$/);
      expect(one?.method.fingerprint).not.toBe(two?.method.fingerprint);
    });

    it.each([
      ['a wrong check digit', { number: '4111111111111112' }],
      ['a month that does not exist', { expiration_date: '13/39' }],
      ['month 00', { expiration_date: '00/39' }],
      ['a date that has passed', { expiration_date: '01/24' }],
    ])('%s is stored as failed, without the number', async (_name, body) => {
      const { status, method } = await create(body);
      expect([status, method.status]).toEqual([201, 'failed']);
      const { db } = frame.service.service.database;
      const row = await db
        .selectFrom('payment_methods')
        .select('number_sealed')
        .where('id', '=', method.id)
        .executeTakeFirst();
      expect(row?.number_sealed).toBeNull();
    });

    it('documented numbers lead to processing and to approval', async () => {
      expect((await create({ number: '4012888888881881' })).method.status).toBe('processing');
      const { method } = await create({ number: '5105105105105100' });
      expect(method.status).toBe('buyer_approval_required');
      expect(method.approval_url).toBe(`${frame.service.url}/sandbox/approvals/${method.id}`);
    });

    it('the approval page moves a card that waits for approval, and no other', async () => {
      const post = async ({ id }: PaymentMethod) => {
        const body = new URLSearchParams({ decision: 'approve' });
        const { status, url } = await fetch(`${frame.service.url}/sandbox/approvals/${id}`, {
          ...{ method: 'POST', body, redirect: 'manual' },
        });
        expect(url).toContain(id);
        const { db } = frame.service.service.database;
        const stored = await db.selectFrom('payment_methods').select('status').where('id', '=', id).execute();
        return [status, stored[0]?.status];
      };
      const back = { redirect_url: 'https://shop.example/done' };
      const { method: processing } = await create({ number: '4012888888881881' });
      expect(await post(processing)).toEqual([409, 'processing']);
      const { method: failed } = await create({ number: '4111111111111112', ...back });
      expect(await post(failed)).toEqual([409, 'failed']);
      const { method: waiting } = await create({ number: '5105105105105100', ...back });
      expect(await post(waiting)).toEqual([303, 'succeeded']);
      expect(await post(waiting)).toEqual([409, 'succeeded']);
    });

    it('the approval page links to redirect_url as it was given, also if it looks like HTML', async () => {
      const redirect_url = `https://shop.example/?order='1'&copy;=2`;
      const { method } = await create({ number: '4111111111111112', redirect_url });
      const page = await (await fetch(`${frame.service.url}/sandbox/approvals/${method.id}`)).text();
      expect(page).toContain('href="https://shop.example/?order=&#39;1&#39;&#38;copy;=2"');
    });

    it('an invalid approval form is refused, and the status does not change', async () => {
      const { method } = await create({ number: '5105105105105100' });
      const post = (body: string) =>
        fetch(method.approval_url ?? '', { method: 'POST', body: new URLSearchParams(body) });
      const statuses = [
        await post(`decision=approve&more=${'x'.repeat(2_000)}`),
        await post('decision=perhaps'),
      ].map(({ status }) => status);
      expect(statuses).toEqual([400, 404]);
      const page = await (await fetch(method.approval_url ?? '')).text();
      expect(page).toContain('value="approve"');
    });

    it('names the buyer by either identifier', async () => {
      const jane = await buyer();
      const [byId, byReference] = await Promise.all([
        create({ buyer_id: jane.id }),
        create({ buyer_external_identifier: jane.external_identifier }),
      ]);
      expect(byId.method.buyer?.id).toBe(jane.id);
      expect(byReference.method.buyer).toEqual(byId.method.buyer);
    });
  });

  describe('404 for a buyer that does not exist', () => {
    it('unknown, and of another merchant account', async () => {
      const other = await buyer('marketplace');
      for (const body of [
        { buyer_id: randomUUID() },
        { buyer_external_identifier: 'no-such-buyer' },
        { buyer_id: other.id },
        { buyer_external_identifier: other.external_identifier },
      ]) {
        const answer = await create(body);
        expect(answer.status).toBe(404);
        // The same for a buyer of another account, so that a caller cannot find out which buyers exist.
        expect(answer.body).toMatchObject({
          details: [
            { location: 'body', pointer: `/${Object.keys(body)[0] ?? ''}`, type: 'value_error.not_found' },
          ],
        });
      }
    });
  });

  describe('409 for an external identifier that is taken', () => {
    it('keeps the first record and names it', async () => {
      const { method } = await create({ external_identifier: 'taken' });
      const { status, body } = await create({ external_identifier: 'taken', number: '5555555555554444' });
      expect(status).toBe(409);
      expect(body).toMatchObject({
        code: 'duplicate_record',
        resource_id: method.id,
        details: [{ location: 'body', pointer: '/external_identifier', type: 'value_error.duplicate' }],
      });
    });

    it('applies to each merchant account separately', async () => {
      expect((await create({ external_identifier: 'both' })).status).toBe(201);
      expect(
        (await create({ external_identifier: 'both' }, { 'X-Service-Merchant-Account-ID': 'marketplace' }))
          .status,
      ).toBe(201);
    });

    it('20 at once, from two instances: one 201, the rest 409 naming it', async () => {
      const answers = await atOnce(Array.from({ length: 20 }, () => ({ external_identifier: 'race' })));
      answers.sort((a, b) => a.status - b.status);
      const id = (answers[0]?.body as PaymentMethod | undefined)?.id;
      const told = answers.map(({ status, body }) => [
        status,
        (body as { resource_id?: string }).resource_id,
      ]);
      expect(told).toEqual([[201, undefined], ...Array.from({ length: 19 }, () => [409, id])]);
    });
  });

  describe('429 for too many numbers with the same BIN and last four digits', () => {
    const { limit, window_seconds: windowSeconds } = velocityLimit.same_bin_and_last_four;
    let bin = 42420000;
    /** Numbers that are alike, and like no others of this file. */
    const alike = () => {
      const own = String((bin += 1));
      return (index: number) => `${own}${String(index).padStart(4, '0')}4242`;
    };
    const each = async (numbers: string[]) => {
      const statuses: number[] = [];
      for (const number of numbers) statuses.push((await create({ number })).status);
      return statuses;
    };
    const upTo = (many: number) => Array.from({ length: many }, (_, index) => index);

    it('counts different numbers, and says when the next one is accepted', async () => {
      const number = alike();
      expect(new Set(await each(upTo(limit).map(number)))).toEqual(new Set([201]));
      expect(await each([number(0), number(1)])).toEqual([201, 201]);
      const refused = await create({ number: number(limit) });
      expect(refused.status).toBe(429);
      expect(refused.body).toMatchObject({ code: 'too_many_requests', details: [] });
      const wait = Number(refused.headers.get('retry-after'));
      expect(wait).toBeGreaterThan(windowSeconds - 600);
      expect(wait).toBeLessThanOrEqual(windowSeconds);
      // Otherwise known numbers could be told from guesses.
      expect(await each([number(0), number(limit), number(500)])).toEqual([429, 429, 429]);
      expect(await each([alike()(0)])).toEqual([201]);
      const elsewhere = { 'X-Service-Merchant-Account-ID': 'marketplace' };
      expect((await create({ number: number(limit) }, elsewhere)).status).toBe(201);
    });

    it('does not count repeated answers, and keeps no 429', async () => {
      const { db } = frame.service.service.database;
      const number = alike();
      await each(upTo(limit).map(number));
      const keyed = (key: string, index: number) =>
        create({ number: number(index) }, { 'Idempotency-Key': key });
      const first = await keyed('limited', 1);
      const repeated = await keyed('limited', 1);
      expect([repeated.status, repeated.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
      expect(repeated.text).toBe(first.text);
      const rowsOf = () => db.selectFrom('number_buckets').selectAll().orderBy('bucket').execute();
      const before = await rowsOf();
      await keyed('limited', 1);
      expect(await rowsOf()).toEqual(before);
      expect((await keyed('too many', limit)).status).toBe(429);
      // A day later.
      await forgetNumbersEverywhere(db, 86_400);
      const later = await keyed('too many', limit);
      expect([later.status, later.headers.get('idempotency-replayed')]).toEqual([201, 'false']);
    });
  });

  describe('422 for a redirect_url with a host that a pattern accepts and no URL can have', () => {
    it.each(['https://256.1.1.1/', 'https://1.2.3.4.5/', 'https://a%20b/'])('%s', async (redirect_url) => {
      const { status, body } = await create({ redirect_url });
      expect(status).toBe(422);
      const { examples } = loadContract().document.components as {
        examples: Record<string, { value: unknown }>;
      };
      expect(body).toEqual(examples.ErrorInvalidRedirectHost?.value);
    });
  });
});

describe('CARDS_PER_MINUTE', () => {
  const statusesOf = async (start: TestServiceOptions, many: number) => {
    await using service = await startTestService(start);
    const pair = await service.pair();
    const [own, other] = [pair.token('*.write'), service.token('*.write')];
    const store = (token: string, headers: Record<string, string> = {}) =>
      service.call('POST', '/payment-methods', { token, body: coded, headers });
    const key = { 'Idempotency-Key': 'repeated' };
    const answers = [];
    for (let index = 0; index < many; index += 1) answers.push(await store(own, index < 2 ? key : {}));
    return {
      statuses: answers.map(({ status }) => status),
      waits: answers.flatMap(({ headers }) => headers.get('retry-after') ?? []).map(Number),
      another: (await store(other)).status,
      elsewhere: (await store(own, { 'X-Service-Merchant-Account-ID': 'marketplace' })).status,
    };
  };

  it('limits a key pair in a merchant account; repeated answers do not count', async () => {
    const { statuses, waits, another, elsewhere } = await statusesOf({ config: { cardsPerMinute: 3 } }, 6);
    expect(statuses).toEqual([201, 201, 201, 201, 429, 429]);
    expect(waits).toHaveLength(2);
    for (const wait of waits) expect(wait >= 1 && wait <= 60).toBe(true);
    expect([another, elsewhere]).toEqual([201, 201]);
  });

  it('is as the contract says in production, and off in the sandbox', () => {
    const { cards } = velocityLimit;
    expect(cardLimit(undefined, 'production', cards.limit)).toBe(cards.limit);
    expect(cardLimit(7, 'production', cards.limit)).toBe(7);
    expect(cardLimit('off', 'production', cards.limit)).toBe('off');
    expect(cardLimit(undefined, 'sandbox', cards.limit)).toBe('off');
    expect(cardLimit(7, 'sandbox', cards.limit)).toBe(7);
  });
});
