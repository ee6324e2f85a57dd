import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createGiftCard } from '../../../server/actions/gift-cards.ts';
import { describeOperation } from '../../support/operation.ts';
import { silentWork } from '../../support/records.ts';

const card = { number: '9999000050001234', pin: '1234' };
const valid = { items: [card] };

interface Item {
  id: string | null;
  balance: number | null;
  currency: string | null;
  last4: string | null;
  balance_error_code?: string;
}

describeOperation('checkGiftCardBalances', { valid: { body: valid } }, (frame) => {
  const check = async (...items: unknown[]) => {
    const answer = await frame.call({ body: { items } });
    return { ...answer, items: (answer.body as { items: Item[] }).items };
  };
  const store = async (number: string, pin: string, account = 'default') => {
    const { secrets, service } = frame.service;
    const card = { merchant_account_id: account, number, pin };
    const row = await silentWork(service.database.db, (unit) => createGiftCard(unit, card, secrets.vault));
    return row?.id ?? '';
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

    it.each(
      `invalid_gift_card expired_card inactive_card incorrect_currency insufficient_funds suspected_fraud operation_canceled
       invalid_service_credentials invalid_service_configuration service_error service_network_error unknown_error`
        .split(/\s+/)
        .map((code, index) => [String(9001 + index), code]),
    )('PIN %s is %s', async (pin, code) => {
      const { status, items } = await check({ ...card, pin });
      expect(status).toBe(200);
      expect(items[0]).toMatchObject({
        balance: null,
        currency: null,
        balance_error_code: code,
        balance_raw_error_code: pin,
      });
    });

    it('a number that is not of the sandbox is invalid', async () => {
      expect((await check({ number: '1234567890123456', pin: '1' })).items[0]?.balance_error_code).toBe(
        'invalid_gift_card',
      );
    });

    it('PIN 9100 answers after a delay', async () => {
      expect((await check({ ...card, pin: '9100' })).items[0]?.balance).toBe(5000);
    });
  });

  describe('400 for cards that do not match', () => {
    it.each<[string[], unknown]>([
      [['/items'], { items: [] }],
      [['/items'], { items: Array.from({ length: 11 }, () => card) }],
      [['/items'], {}],
      [['/items/0/pin'], { items: [{ number: card.number }] }],
      [['/items/0/number'], { items: [{ id: randomUUID(), number: card.number }] }],
      [['/items/0/id'], { items: [{ id: 'x' }] }],
      [['/items/0/id'], { items: [{}] }],
      [['/items/1/number'], { items: [card, { ...card, number: '123' }] }],
      [['/items/0'], { items: [null] }],
    ])('%s', async (pointers, body) => {
      const answer = await frame.call({ body });
      expect(answer.status).toBe(400);
      const found = (answer.body as { details: { pointer: string }[] }).details.map(({ pointer }) => pointer);
      expect(new Set(found)).toEqual(new Set(pointers));
    });
  });

  describe('429 past 50 calls a minute with an embed token', () => {
    it('names the seconds to wait', async () => {
      const token = frame.service.token('embed');
      const answers = await Promise.all(Array.from({ length: 51 }, () => frame.call({ token })));
      expect(answers.map(({ status }) => status).sort()).toEqual([
        ...Array.from({ length: 50 }, () => 200),
        429,
      ]);
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
