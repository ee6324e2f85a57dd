/** The mock serves the examples and readers copy them, so they must be complete, valid and consistent with each other. */
import { describe, expect, it } from 'vitest';
import { enumOf, example, examples, objects, ofType, values } from './examples.collect.ts';
import { asArray, asJson, type Json } from './specification/document.ts';

const text = (value: unknown) => (typeof value === 'string' ? value : '');
const at = (object: Json, key: string) => Date.parse(text(object[key]));

describe('complete', () => {
  it.each([
    ['payment method', 'payment-method', 'PaymentMethodStatus', 4],
    ['transaction', 'transaction', 'TransactionStatus', 9],
  ])('every state of a %s is shown', (_name, type, schema, count) => {
    const states = new Set(ofType(type).map((object) => object['status']));
    expect(enumOf(schema)).toHaveLength(count);
    expect(enumOf(schema).filter((state) => !states.has(state))).toEqual([]);
  });
});

/** The different values that the examples give to some fields of a resource, by resource; two values contradict each other. */
function contradictions(things: Json[], key: string, fields: string[]): string[] {
  return fields.flatMap((field) => {
    const seen = new Map<unknown, Set<string>>();
    for (const thing of things.filter((one) => one[key] !== null)) {
      const said = seen.get(thing[key]) ?? new Set();
      seen.set(thing[key], said.add(JSON.stringify(thing[field])));
    }
    return [...seen].flatMap(([id, said]) =>
      said.size > 1 ? [`${String(id)}: ${field} is ${[...said].join(', ')}`] : [],
    );
  });
}

describe('consistent', () => {
  // That a record is the same everywhere is a rule of the lint: house/consistent-examples.
  it('a card has one fingerprint', () => {
    const methods = ofType('payment-method');
    expect(methods.length).toBeGreaterThan(8);
    const usable = methods.filter(({ status }) => status !== 'failed');
    expect(usable.length).toBeLessThan(methods.length);
    expect(contradictions(usable, 'fingerprint', ['label', 'scheme', 'details'])).toEqual([]);
    expect(contradictions(usable, 'label', ['fingerprint'])).toEqual([]);
    for (const { status, fingerprint } of methods) expect(fingerprint === null).toBe(status === 'failed');
  });

  it('an id belongs to one kind of thing', () => {
    const things = objects.filter((object) => text(object['id']) !== '' && text(object['type']) !== '');
    expect(contradictions(things, 'id', ['type'])).toEqual([]);
  });

  it('everything happens in the merchant account "default"', () => {
    const accounts = objects.flatMap((object) =>
      'merchant_account_id' in object ? [object['merchant_account_id']] : [],
    );
    expect([...new Set([...accounts, ...ofType('merchant-account').map(({ id }) => id)])]).toEqual([
      'default',
    ]);
  });

  it('what is named by id exists, unless the scenario is that it does not', () => {
    const buyers = new Set(
      ofType('buyer').flatMap(({ id, external_identifier: reference }) => [id, reference]),
    );
    const named = examples
      .filter(({ side }) => side === 'request')
      .flatMap(({ name, value }) => {
        const body = asJson(value);
        return [body['buyer_id'], body['buyer_external_identifier']].flatMap((buyer) =>
          buyer === undefined ? [] : [{ name, buyer }],
        );
      });
    expect(named.filter(({ buyer }) => !buyers.has(buyer)).map(({ name }) => name)).toEqual(['not_found']);
    const duplicate = example('createPaymentMethod', 'request', 'duplicate')['external_identifier'];
    const holder = ofType('payment-method').find((method) => method['external_identifier'] === duplicate);
    expect(example('createPaymentMethod', '409', 'duplicate')['resource_id']).toBe(holder?.['id']);
  });
});

describe('plausible', () => {
  it('lists are newest first, from page to page', () => {
    const lists = values
      .map((value) => asArray(asJson(value)['items']).map(asJson))
      .filter(([first]) => first && 'created_at' in first);
    expect(lists.length).toBeGreaterThan(3);
    const pages = ['first_page', 'last_page'].flatMap((name) =>
      asArray(example('listTransactions', '200', name)['items']).map(asJson),
    );
    for (const list of [...lists, pages]) {
      const times = list.map((item) => at(item, 'created_at'));
      expect(times).toEqual(times.toSorted((one, other) => other - one));
    }
  });

  it('a page is full when another follows, and never holds more than its limit', () => {
    for (const page of values.map(asJson).filter((value) => 'next_cursor' in value)) {
      const { items, limit, next_cursor: next } = page;
      expect(asArray(items).length).toBeLessThanOrEqual(Number(limit));
      if (next !== null) expect(asArray(items)).toHaveLength(Number(limit));
    }
  });

  it('nothing changes or is used before it is created, and all of it happens in 2026', () => {
    for (const object of objects.filter((one) => 'created_at' in one)) {
      for (const key of ['updated_at', 'last_used_at', 'last_replaced_at', 'cit_last_used_at']) {
        if (text(object[key]) !== '')
          expect(at(object, key), JSON.stringify(object)).toBeGreaterThanOrEqual(at(object, 'created_at'));
      }
    }
    const times = objects.flatMap((object) =>
      Object.entries(object)
        .filter(([key]) => key.endsWith('_at'))
        .map(([, time]) => text(time)),
    );
    expect(
      times.filter((time) => time !== '' && !/^2026-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u.test(time)),
    ).toEqual([]);
    const expiry = ofType('gift-card')
      .map((card) => text(card['expiration_date']))
      .filter((time) => time !== '');
    expect(expiry.filter((time) => time < '2027')).toEqual([]);
  });

  it('no more is captured than authorized, authorized than asked for, refunded or settled than captured', () => {
    for (const transaction of ofType('transaction')) {
      const [amount, authorized, captured, refunded, settled] = [
        'amount',
        'authorized_amount',
        'captured_amount',
        'refunded_amount',
        'settled_amount',
      ].map((key) => Number(transaction[key]));
      expect(authorized).toBeLessThanOrEqual(amount ?? 0);
      expect(captured).toBeLessThanOrEqual(authorized ?? 0);
      expect(refunded).toBeLessThanOrEqual(captured ?? 0);
      expect(settled).toBeLessThanOrEqual(captured ?? 0);
      expect(transaction['settled']).toBe((settled ?? 0) > 0);
      expect(transaction['settled_currency']).toBe(transaction['settled'] ? transaction['currency'] : null);
    }
  });

  it('money moves as the status says', () => {
    for (const { status, authorized_amount: authorized, captured_amount: captured } of ofType(
      'transaction',
    )) {
      const early = [
        'processing',
        'buyer_approval_pending',
        'authorization_failed',
        'authorization_declined',
      ];
      expect(Number(authorized) > 0, text(status)).toBe(!early.includes(text(status)));
      expect(Number(captured) > 0, text(status)).toBe(status === 'capture_succeeded');
    }
  });

  it('a buyer is sent to approve exactly where the status asks for it', () => {
    for (const method of ofType('payment-method').filter((one) => 'status' in one)) {
      const asks = method['status'] === 'buyer_approval_required';
      expect(text(method['approval_url']).endsWith(`/${text(method['id'])}`)).toBe(asks);
    }
  });
});
