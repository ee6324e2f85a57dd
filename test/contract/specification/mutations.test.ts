/** Proof that the test of the specification can fail: each change below breaks a promise, and is noticed. */
import { beforeAll, describe, expect, it } from 'vitest';
import { announcements, announcementsIn, withoutAnnounced } from './additions.ts';
import { asArray, asJson, Contract, isJson, type Json, type Place } from './document.ts';
import { operations } from './operations.ts';
import { answerAt, json, operationAt, responseAt } from './promised.ts';
import { promises } from './promises.ts';

type Find = (contract: Contract) => Place;
type Mutation = [name: string, find: Find, change: (value: Json) => void];

function operation(id: string): (typeof operations)[number] {
  const found = operations.find((one) => one.id === id);
  if (!found) throw new Error(`No operation ${id}`);
  return found;
}

/** The nearest schema that has the keyword: the place itself, what it refers to, or a branch of it. */
function holding(contract: Contract, place: Place, keyword: string): Place | undefined {
  const schema = asJson(place.value);
  if (keyword in schema) return place;
  if ('$ref' in schema) return holding(contract, contract.follow(place), keyword);
  for (const list of ['allOf', 'anyOf', 'oneOf']) {
    for (const index of asArray(schema[list]).keys()) {
      const found = holding(contract, contract.at([list, index], place), keyword);
      if (found) return found;
    }
  }
  return undefined;
}

/** The schema at a field inside another, through lists, where it says the keyword. */
function within(start: Find, fields: string, keyword: string): Find {
  return (contract) => {
    let place = start(contract);
    for (const field of fields.split('.').filter(Boolean)) {
      const { items } = contract.view(place);
      const inner = contract.view(items ?? place).properties.get(field);
      if (!inner) throw new Error(`No field ${field} at ${place.pointer}`);
      place = inner;
    }
    const item = contract.view(place).items;
    const found = holding(contract, place, keyword) ?? (item && holding(contract, item, keyword));
    if (!found) throw new Error(`No ${keyword} at ${place.pointer}`);
    return found;
  };
}

const of =
  (id: string): Find =>
  (contract) =>
    operationAt(contract, operation(id));
const body =
  (id: string): Find =>
  (contract) =>
    contract.at(['requestBody', 'content', json, 'schema'], of(id)(contract));
const answer =
  (id: string, status: number): Find =>
  (contract) =>
    answerAt(contract, operation(id), status);
const response =
  (id: string, status: number): Find =>
  (contract) =>
    responseAt(contract, operation(id), status);
const root: Find = (contract) => contract.root;
const parameter =
  (id: string, name: string): Find =>
  (contract) => {
    const list = contract.at(['parameters'], of(id)(contract));
    const places = [...asArray(list.value).keys()].map((index) => contract.at([index], list));
    return places.find(({ value }) => asJson(value)['name'] === name) ?? list;
  };

const set =
  (key: string, value: unknown) =>
  (at: Json): void => {
    at[key] = value;
  };
const drop =
  (key: string) =>
  (at: Json): void => {
    Reflect.deleteProperty(at, key);
  };
const without =
  (key: string, value: unknown) =>
  (at: Json): void => {
    at[key] = asArray(at[key]).filter((one) => one !== value);
  };
const also =
  (key: string, value: unknown) =>
  (at: Json): void => {
    at[key] = [...asArray(at[key]), value];
  };
const inside =
  (key: string, change: (at: Json) => void) =>
  (at: Json): void => {
    change(asJson(at[key]));
  };

const transactions = answer('listTransactions', 200);
const keyPairs = answer('listApiKeyPairs', 200);
const method = answer('createPaymentMethod', 201);
const balances = answer('checkGiftCardBalances', 200);
const card = body('createPaymentMethod');

const mutations: Mutation[] = [
  ['a field is missing', within(transactions, 'items', 'properties'), inside('properties', drop('settled'))],
  [
    'a field is extra',
    within(method, '', 'properties'),
    inside('properties', set('number', { type: 'string' })),
  ],
  [
    'a nested field is missing',
    within(transactions, 'items.buyer', 'properties'),
    inside('properties', drop('id')),
  ],
  ['a field is not always there', within(keyPairs, 'items', 'required'), without('required', 'thumbprint')],
  ['an optional field is demanded', within(keyPairs, 'items', 'required'), also('required', 'private_key')],
  ['a resource is open', within(method, 'details', 'additionalProperties'), drop('additionalProperties')],
  ['an envelope is open', within(keyPairs, '', 'additionalProperties'), set('additionalProperties', true)],
  ['a type is another', within(method, 'has_replacement', 'type'), set('type', 'string')],
  ['an integer is a number', within(transactions, 'items.amount', 'type'), set('type', 'number')],
  ['null is allowed', within(transactions, 'items.settled', 'type'), set('type', ['boolean', 'null'])],
  ['null is refused', within(method, 'label', 'type'), set('type', 'string')],
  ['a format is missing', within(method, 'created_at', 'format'), drop('format')],
  ['a format is another', within(method, 'approval_url', 'format'), set('format', 'uri-reference')],
  ['a method value is missing', within(method, 'method', 'enum'), without('enum', 'oney_12x')],
  ['a scheme is extra', within(method, 'scheme', 'enum'), also('enum', 'troy')],
  ['an additional scheme is missing', within(method, 'additional_schemes', 'enum'), without('enum', 'uatp')],
  ['a status is missing', within(transactions, 'items.status', 'enum'), without('enum', 'capture_pending')],
  ['a mode is extra', within(method, 'mode', 'enum'), also('enum', 'bank')],
  [
    'a balance error is missing',
    within(balances, 'items.balance_error_code', 'enum'),
    without('enum', 'unknown_error'),
  ],
  ['a value is there twice', within(transactions, 'items.intent', 'enum'), also('enum', 'capture')],
  ['a constant is another', within(keyPairs, 'items.roles.type', 'const'), set('const', 'roles')],
  ['a length is another', within(keyPairs, 'items.display_name', 'maxLength'), set('maxLength', 201)],
  ['a length is missing', within(keyPairs, 'next_cursor', 'minLength'), drop('minLength')],
  ['a pattern is missing', within(method, 'expiration_date', 'pattern'), drop('pattern')],
  ['a length is extra', within(method, 'fingerprint', 'type'), set('maxLength', 64)],
  ['an amount is smaller', within(transactions, 'items.amount', 'maximum'), set('maximum', 2_147_483_647)],
  ['a page is larger', within(transactions, 'limit', 'maximum'), set('maximum', 501)],
  ['a card number is looser', within(card, 'number', 'pattern'), set('pattern', '^[0-9]{12,19}$')],
  ['free text may hold U+0000', within(card, 'external_identifier', 'pattern'), drop('pattern')],
  ['both buyers may be named', within(card, '', 'properties'), drop('not')],
  ['a body is open', within(card, '', 'additionalProperties'), drop('additionalProperties')],
  ['a body field is demanded', within(card, '', 'required'), also('required', 'security_code')],
  ['more gift cards', within(body('checkGiftCardBalances'), 'items', 'maxItems'), set('maxItems', 11)],
  [
    'a gift card kind is missing',
    within(body('checkGiftCardBalances'), 'items', 'oneOf'),
    (at) => asArray(at['oneOf']).pop(),
  ],
  [
    'a default is another',
    within(body('createWebhookSubscription'), 'active', 'default'),
    set('default', false),
  ],
  ['any address is a webhook', within(body('createWebhookSubscription'), 'url', 'pattern'), drop('pattern')],
  ['a body may be left out', (c) => c.at(['requestBody'], of('createPaymentMethod')(c)), drop('required')],
  ['a filter is misspelt', parameter('listTransactions', 'currency'), set('name', 'curency')],
  ['a filter is demanded', parameter('listTransactions', 'search'), set('required', true)],
  ['a list is separated by commas', parameter('listTransactions', 'status'), set('explode', false)],
  [
    'a page has another default',
    (c) => c.at(['schema'], parameter('listTransactions', 'limit')(c)),
    set('default', 25),
  ],
  [
    'a parameter is extra',
    of('listCardSchemeDefinitions'),
    also('parameters', { name: 'limit', in: 'query', schema: {} }),
  ],
  ['the account header is missing', of('listTransactions'), set('parameters', [])],
  [
    'a scope is another',
    of('listTransactions'),
    (at) => asArray(at['security']).map((one) => Object.assign(asJson(one), { bearer: [] })),
  ],
  ['embed is not enough', of('checkGiftCardBalances'), (at) => asArray(at['security']).pop()],
  ['a status is not declared', of('listTransactions'), inside('responses', drop('422'))],
  ['a status is extra', of('listTransactions'), inside('responses', set('409', {}))],
  ['a status is not reserved', of('listApiKeyPairs'), inside('x-reserved', drop('425'))],
  ['the rate limit is higher', of('checkGiftCardBalances'), inside('x-rate-limit', set('limit', 60))],
  ['the merchant scope is another', of('createPaymentMethod'), set('x-merchant-scope', 'many')],
  ['a request has no id', response('listTransactions', 200), inside('headers', drop('X-Request-ID'))],
  [
    'nobody knows when to retry',
    response('checkGiftCardBalances', 429),
    inside('headers', drop('Retry-After')),
  ],
  [
    'nobody knows whether an answer is repeated',
    response('createPaymentMethod', 201),
    inside('headers', drop('Idempotency-Replayed')),
  ],
  ['nobody knows what is allowed', response('listTransactions', 405), inside('headers', drop('Allow'))],
  [
    'an error has no code',
    within(answer('listTransactions', 400), '', 'required'),
    without('required', 'code'),
  ],
  [
    'an error code is missing',
    within(answer('listTransactions', 500), 'code', 'enum'),
    without('enum', 'too_early'),
  ],
  [
    'a conflict names nothing',
    within(answer('createPaymentMethod', 409), '', 'required'),
    without('required', 'resource_id'),
  ],
  [
    'a location is missing',
    within(answer('listTransactions', 400), 'details.location', 'enum'),
    without('enum', 'path'),
  ],
  ['422 has another shape', of('listTransactions'), inside('responses', (at) => (at['422'] = at['400']))],
  ['an event is missing', root, inside('webhooks', drop('transaction.updated'))],
  ['an event is extra', root, inside('webhooks', (at) => (at['buyer.created'] = at['transaction.created']))],
  [
    'an event shows another',
    root,
    inside('webhooks', (at) => (at['transaction.created'] = at['payment-method.created'])),
  ],
  [
    'tokens are of another kind',
    (c) => c.at(['components']),
    inside('securitySchemes', set('key', { type: 'apiKey' })),
  ],
  ['a path is extra', root, inside('paths', set('/buyers', { get: {} }))],
  ['a method is extra', root, inside('paths', inside('/transactions', set('post', {})))],
  [
    'an error code is extra',
    within(answer('listTransactions', 500), 'code', 'enum'),
    also('enum', 'card_limit_reached'),
  ],
  [
    'a parameter is extra, and demanded',
    of('listTransactions'),
    also('parameters', { name: 'planet', in: 'query', required: true, schema: {} }),
  ],
  [
    'a body field is extra, and demanded',
    within(card, '', 'required'),
    (at) => {
      inside('properties', set('planet', { type: 'string' }))(at);
      also('required', 'planet')(at);
    },
  ],
];

/** What goes beyond the specification, and the line of the changelog with which it passes. */
const additions: [name: string, announcement: string, find: Find, change: (value: Json) => void][] = [
  [
    'a field',
    'a payment method has a `planet`',
    within(method, '', 'required'),
    (at) => {
      inside('properties', set('planet', { type: 'string' }))(at);
      also('required', 'planet')(at);
    },
  ],
  [
    'a parameter',
    'a filter `planet`',
    of('listTransactions'),
    also('parameters', { name: 'planet', in: 'query', schema: {} }),
  ],
  [
    'a status',
    '`GET /transactions` may answer 418',
    of('listTransactions'),
    inside('responses', set('418', {})),
  ],
  ['an operation', '`GET /planets`', root, inside('paths', set('/planets', { get: {} }))],
  ['a method', '`POST /transactions`', root, inside('paths', inside('/transactions', set('post', {})))],
  [
    'an event',
    'the event `planet.created`',
    root,
    inside('webhooks', (at) => (at['planet.created'] = at['transaction.created'])),
  ],
  [
    'an error code',
    'the code `planet_full`',
    within(answer('listTransactions', 500), 'code', 'enum'),
    also('enum', 'planet_full'),
  ],
];

function faultsIn(contract: Contract): Set<string> {
  const texts = promises.flatMap(({ name, faults }) =>
    faults(contract).map((fault) => name + JSON.stringify(fault)),
  );
  return new Set(texts);
}

let document: Json;
let known: Set<string>;

beforeAll(() => {
  ({ document } = Contract.read(process.env['CONTRACT_FILE'] ?? 'generated/openapi.json'));
  known = faultsIn(new Contract(document));
});

describe('The test of the specification fails when', () => {
  // What is demanded contradicts the specification even when it is announced.
  const text = `${announcements} planet`;
  for (const [name, find, change] of mutations) {
    it(name, () => {
      const copy = structuredClone(document);
      const { pointer, value } = find(new Contract(copy));
      expect({ pointer, found: isJson(value) }).toEqual({ pointer, found: true });
      change(asJson(value));
      const mutated = new Contract(copy);
      const noticed = promises.some((promised) =>
        withoutAnnounced(promised.faults(mutated), text).some(
          (fault) => !known.has(promised.name + JSON.stringify(fault)),
        ),
      );
      expect(noticed).toBe(true);
    });
  }
});

describe('The test of the specification lets pass, once the changelog names it,', () => {
  const newFaults = (mutated: Contract, text: string) =>
    promises.flatMap((promised) =>
      withoutAnnounced(promised.faults(mutated), text).filter(
        (fault) => !known.has(promised.name + JSON.stringify(fault)),
      ),
    );

  for (const [name, announcement, find, change] of additions) {
    it(name, () => {
      const copy = structuredClone(document);
      change(asJson(find(new Contract(copy)).value));
      const mutated = new Contract(copy);
      expect(newFaults(mutated, 'a planetary thing, /planets/{planet_id}')).not.toEqual([]);
      expect(newFaults(mutated, announcement)).toEqual([]);
    });
  }

  it('of every version but the first, which is the specification', () => {
    const changelog = `# Changelog

## 1.1.0

### Contract

- \`A\`, not only D

### Service

- \`B\`

## 1.0.0

### Contract

- \`C\`
`;
    expect(announcementsIn(changelog)).toBe('`A`');
  });
});
