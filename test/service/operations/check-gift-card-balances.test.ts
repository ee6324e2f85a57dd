import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { GiftCard, GiftCardProvider } from '../../../server/providers/gift-cards.ts';
import { simulatedGiftCards } from '../../../server/providers/simulated.ts';
import { describeOperation } from '../../support/operation.ts';
import { createGiftCard, forgetNumbersEverywhere } from '../../support/records.ts';

const card = { number: '9999000050001234', pin: '1234' };
const valid = { items: [card] };

interface Item {
  id: string | null;
  balance: number | null;
  currency: string | null;
  last4: string | null;
  balance_error_code?: string;
}

/** What the provider was asked. */
const asked: GiftCard[] = [];
const giftCards: GiftCardProvider = (cards, ...more) => {
  asked.push(...cards);
  // As one that gives up at its own deadline. mock/values.test.ts waits for the service's.
  if (cards.some(({ pin }) => pin === '9504'))
    return Promise.reject(new DOMException('no answer', 'TimeoutError'));
  return simulatedGiftCards(cards, ...more);
};

const start = { providers: { giftCards } };

describeOperation('checkGiftCardBalances', { valid: { body: valid }, start }, (frame) => {
  const check = async (...items: unknown[]) => {
    const answer = await frame.call({ body: { items } });
    return { ...answer, items: (answer.body as { items: Item[] }).items };
  };
  const store = async (number: string, pin: string, account = 'default') => {
    const { secrets, service } = frame.service;
    const card = { merchant_account_id: account, number, pin };
    return (await createGiftCard({ db: service.database.db, secrets }, card)).id;
  };

  describe('200 reads balances', () => {
    it('of a card that is not stored', async () => {
      const { status, items } = await check(card);
      expect(status).toBe(200);
      expect(items).toEqual([
        {
          type: 'gift-card',
          id: null,
          merchant_account_id: 'default',
          bin: '999900',
          sub_bin: '005',
          last4: '1234',
          expiration_date: '2029-12-31T00:00:00.000Z',
          balance: 5000,
          currency: 'USD',
        },
      ]);
    });

    it('of a stored card, by its ID in any case', async () => {
      const id = await store('9999000125505678', '1111');
      expect((await check({ id })).items[0]).toMatchObject({ id, balance: 12550, last4: '5678' });
      expect((await check({ id: id.toUpperCase() })).items[0]).toMatchObject({ id, balance: 12550 });
    });

    it('in the order of the request, failures among them, the same card twice', async () => {
      const id = await store('9999000000070001', '1111');
      const unknown = randomUUID();
      const { items } = await check(
        card,
        { id: unknown },
        { id },
        { ...card, pin: '9002' },
        { number: '9999000000080002', pin: 'x' },
        { id },
      );
      expect(items.map((item) => [item.id, item.balance, item.balance_error_code])).toEqual([
        [null, 5000, undefined],
        [unknown, null, 'invalid_gift_card'],
        [id, 7, undefined],
        [null, null, 'expired_card'],
        [null, 8, undefined],
        [id, 7, undefined],
      ]);
    });

    it('a stored card of another merchant account is unknown', async () => {
      const id = await store('9999000000070001', '1111', 'marketplace');
      expect((await check({ id })).items[0]).toMatchObject({
        id,
        balance: null,
        balance_error_code: 'invalid_gift_card',
        bin: null,
      });
    });

    describe('for ten PINs of a card number in an hour', () => {
      const guesses = (number: string, many: number, from = 0) =>
        Array.from({ length: many }, (_, index) => ({ number, pin: String(1000 + from + index) }));
      const codes = (items: Item[]) => items.map(({ balance_error_code: code }) => code ?? 'read');
      const askedFor = (number: string) => asked.filter((one) => one.number === number).length;
      const elsewhere = { 'X-Service-Merchant-Account-ID': 'marketplace' };

      it('and not for more, also of calls at the same time; the provider is not asked', async () => {
        const number = '9999000050002001';
        const answers = await Promise.all(
          Array.from({ length: 8 }, (_, call) => check(...guesses(number, 10, 10 * call))),
        );
        expect(askedFor(number)).toBe(10);
        const found = answers.flatMap(({ items }) => codes(items));
        expect(found.filter((code) => code === 'read')).toHaveLength(10);
        expect(new Set(found)).toEqual(new Set(['read', 'suspected_fraud']));
      });

      it('and not for those known either, so that the right one is not told; other numbers and accounts are', async () => {
        const [number, other] = ['9999000050002002', '9999000050002003'];
        const [first] = guesses(number, 1);
        expect(codes((await check(...guesses(number, 10))).items)).toEqual(Array(10).fill('read'));
        expect(codes((await check(first, ...guesses(number, 2, 10), ...guesses(other, 1))).items)).toEqual([
          ...['read', 'suspected_fraud', 'suspected_fraud', 'read'],
        ]);
        expect(codes((await check(first)).items)).toEqual(['suspected_fraud']);
        const id = await store(number, '1000');
        expect(codes((await check({ id })).items)).toEqual(['read']);
        const { body } = await frame.call({ body: { items: [first] }, headers: elsewhere });
        expect(codes((body as { items: Item[] }).items)).toEqual(['read']);
        const { db } = frame.service.service.database;
        await forgetNumbersEverywhere(db, 3600);
        expect(codes((await check(...guesses(number, 1, 20))).items)).toEqual(['read']);
      });

      it('and stores neither numbers nor PINs', async () => {
        await check({ number: '9999000050002004', pin: 'a PIN of its own' });
        const { db } = frame.service.service.database;
        const { rows } = await sql<{ row: string }>`select b::text as row from number_buckets b`.execute(db);
        const text = rows.map(({ row }) => row).join();
        expect(text).not.toBe('');
        for (const hidden of ['99990000', 'a PIN of its own']) expect(text).not.toContain(hidden);
      });
    });
  });

  describe('429 past 50 calls a minute with an embed token', () => {
    it('names the seconds to wait', async () => {
      const token = frame.service.token('embed');
      // One after the other: a busy machine would lose some of many at once.
      for (let calls = 1; calls <= 50; calls += 1) expect((await frame.call({ token })).status).toBe(200);
      const refused = await frame.call({ token });
      expect(refused.status).toBe(429);
      const wait = Number(refused.headers.get('retry-after'));
      expect(wait >= 1 && wait <= 60).toBe(true);
    });
  });

  describe('502 when the provider’s answer is invalid', () => {
    it('PIN 9502', async () => {
      expect((await check(card, { ...card, pin: '9502' })).status).toBe(502);
    });
  });

  describe('504 when the provider does not answer in time', () => {
    it('PIN 9504', async () => {
      expect((await check({ ...card, pin: '9504' })).status).toBe(504);
    });
  });
});
