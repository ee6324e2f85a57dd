/** Examples agree with each other: a response follows from its request, and an event shows the resource as the API does. */
import { describe, expect, it } from 'vitest';
import {
  contract,
  enumOf,
  example,
  examples,
  faultsOf,
  objectsIn,
  partExamples,
} from './examples.collect.ts';
import { asArray, asJson, type Json } from './specification/document.ts';

const text = (value: unknown) => (typeof value === 'string' ? value : '');
const at = (object: Json, key: string) => Date.parse(text(object[key]));

describe('paired with the sandbox', () => {
  const introduction = text(asJson(contract.document['info'])['description']);
  const published = [...introduction.matchAll(/^\| `(\d{13,19})` +\| ([\w ]+?) +\| `(\w+)` +\|$/gmu)].map(
    ([, number = '', scheme = '', status = '']) => ({ number, scheme: scheme.toLowerCase(), status }),
  );
  const requests = examples.filter(
    ({ operation, side }) => operation === 'createPaymentMethod' && side === 'request',
  );

  it('the introduction publishes the test numbers', () => {
    expect(published.map(({ number }) => number)).toContain('4111111111111111');
    expect(published.length).toBeGreaterThan(3);
  });

  it.each(requests)('the card of "$name" is published, and answered as published', ({ name, value }) => {
    const request = asJson(value);
    const number = text(request['number']);
    const card = published.find((one) => one.number === number);
    expect(card).toBeDefined();
    const stored = examples.find(
      (one) => one.operation === 'createPaymentMethod' && one.side === '201' && one.name === name,
    );
    if (!stored) return;
    const method = asJson(stored.value);
    const [month, year] = text(request['expiration_date']).split('/').map(Number);
    const hasExpired = Date.UTC(2000 + (year ?? 0), month ?? 0) <= at(method, 'created_at');
    const buyer = request['buyer_id'] ?? request['buyer_external_identifier'];
    expect(method).toMatchObject({
      label: number.slice(-4),
      details: { bin: number.slice(0, number.length >= 16 ? 8 : 6) },
      scheme: card?.scheme,
      status: hasExpired ? 'failed' : card?.status,
      expiration_date: request['expiration_date'],
      external_identifier: request['external_identifier'] ?? null,
    });
    const stood = asJson(method['buyer']);
    expect([stood['id'], stood['external_identifier']]).toContain(buyer);
  });

  it.each(['works', 'mixed'])(
    'the gift cards of "%s" are answered in order, as their numbers and PINs say',
    (name) => {
      const asked = asArray(example('checkGiftCardBalances', 'request', name)['items']).map(asJson);
      const answers = asArray(example('checkGiftCardBalances', '200', name)['items']).map(asJson);
      expect(answers).toHaveLength(asked.length);
      asked.forEach((card, index) => {
        const answer = answers[index];
        expect(answer?.['id']).toBe(card['id'] ?? null);
        const number = text(card['number']);
        if (number === '') return;
        const error = enumOf('BalanceErrorCode')[Number(card['pin']) - 9001];
        expect(answer).toMatchObject({
          bin: number.slice(0, 6),
          sub_bin: number.slice(6, 9),
          last4: number.slice(-4),
        });
        expect(answer?.['balance']).toBe(error === undefined ? Number(number.slice(4, 12)) : null);
        expect(answer?.['balance_error_code']).toBe(error);
      });
    },
  );
});

describe('events', () => {
  const events = examples
    .filter(({ value }) => asJson(value)['type'] === 'event')
    .map(({ value }) => asJson(value));
  const resources = examples
    .filter(({ operation }) => !operation.startsWith('on'))
    .flatMap(({ value }) => objectsIn(value));

  it.each(events.map((event) => ({ name: text(event['name']), event })))(
    '$name carries a resource of the API, as it was then',
    ({ name, event }) => {
      const target = asJson(event['target']);
      const schema = text(target['type']).replace(/(?:^|-)([a-z])/gu, (_, letter: string) =>
        letter.toUpperCase(),
      );
      expect(faultsOf(target, `/components/schemas/${schema}`)).toEqual([]);
      expect(name.split('.')[0]).toBe(target['type']);
      const shown = resources.filter(({ type }) => type === target['type']).map(({ id }) => id);
      expect(shown, 'the target is a record that an example of an operation shows').toContain(target['id']);
      const { created_at: created, updated_at: changed = created } = target;
      expect(at(event, 'created_at')).toBeGreaterThanOrEqual(Date.parse(text(changed)));
      if (name.endsWith('.created')) expect(changed).toBe(created);
    },
  );

  it('every event has its own id, and the header shows one of them', () => {
    const fileOf = new Map<unknown, string>();
    for (const [name, example] of Object.entries(
      asJson(asJson(contract.document['components'])['examples']),
    )) {
      const { type, id } = asJson(asJson(example)['value']);
      if (type !== 'event') continue;
      const file = `openapi/components/examples/${name}.yaml`;
      expect(fileOf.get(id), `${file} has the id of this example, and needs its own`).toBeUndefined();
      fileOf.set(id, file);
    }
    const ids = [...fileOf.keys()];
    expect(ids.length).toBeGreaterThanOrEqual(4);
    const header = partExamples.find(({ operation }) => operation === 'WebhookId')?.value;
    expect(ids).toContain(header);
    const sent = partExamples.find(({ operation }) => operation === 'WebhookTimestamp')?.value;
    const event = events.find(({ id }) => id === header);
    const delay = Number(sent) * 1000 - at(event ?? {}, 'created_at');
    expect(delay).toBeGreaterThanOrEqual(-1000);
    expect(delay).toBeLessThan(60_000);
  });
});
