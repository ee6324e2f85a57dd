/** The hand-written part of the corpus: cases that the generator does not produce. */
import { gzipSync } from 'node:zlib';
import { operations, type OperationId } from '../../../generated/operations.ts';
import { card } from '../../support/card.ts';
import { bodySchemaOf } from '../../support/requests.ts';
import { examplePath } from '../../support/valid-request.ts';
import { addresses, nobody, type Case } from './parity.addresses.ts';
import type { Who, Wire } from './parity.exchange.ts';
import { rightRequest } from './support.ts';

export const merchantAccount = 'X-Service-Merchant-Account-ID';
const gift = { number: '9999000050001234', pin: '1' };
const hook = { url: 'https://shop.example/hooks', active: false };

const noHosts = ['https://256.1.1.1/', 'https://1.2.3.4.5/', 'https://a%20b/', 'https://foo.1/'];

const paths = { cards: '/payment-methods', gifts: '/gift-cards/balances', hooks: '/webhook-subscriptions' };

const post = (to: keyof typeof paths, name: string, json: unknown): Case => ({
  ...{ name, method: 'POST', target: paths[to], json },
});
const raw = (name: string, text: string | Buffer, headers: Wire['headers'] = {}): Case => ({
  ...{ name, method: 'POST', target: paths.cards, raw: text, headers },
});
const items = (count: number) => ({ items: Array.from({ length: count }, () => gift) });

const bodies: Case[] = [
  ...[{}, [], 'card', null, 1, true].map((json) => post('cards', `${JSON.stringify(json)} as a card`, json)),
  post('cards', 'a card', card),
  post('cards', 'two buyers', { ...card, buyer_id: 'x', buyer_external_identifier: 'b' }),
  post('cards', 'a buyer that is null', { ...card, buyer_id: null }),
  post('cards', 'the buyer that the contract says is missing', {
    ...card,
    buyer_external_identifier: 'no-such-buyer',
  }),
  post('cards', 'the example of a taken identifier', {
    method: 'card',
    number: '5555555555554444',
    expiration_date: '12/29',
    external_identifier: 'card-8841',
  }),
  post('cards', 'a property called __proto__', JSON.parse('{"__proto__": 1}')),
  post('cards', 'a relative address', { ...card, redirect_url: '/done' }),
  post('cards', 'an address with a line break', { ...card, redirect_url: 'https://a.example/\n' }),
  ...noHosts.map((redirect_url) => post('cards', `back to ${redirect_url}`, { ...card, redirect_url })),
  post('cards', 'digits of another script', { ...card, security_code: '١٢٣' }),
  post('cards', 'half a surrogate pair', { ...card, external_identifier: '\ud800' }),
  post('gifts', 'ten cards', items(10)),
  post('gifts', 'eleven cards', items(11)),
  post('gifts', 'a thousand cards', items(1_000)),
  post('gifts', 'not even objects', { items: [1, null, 'x', []] }),
  post('gifts', 'number and id', { items: [{ ...gift, id: '356d56e5-fe16-42ae-97ee-8d55d846ae2e' }] }),
  post('gifts', 'the second of two', { items: [gift, { id: 'no uuid' }] }),
  post('gifts', 'no answer in time', { items: [gift, { ...gift, pin: '9504' }] }),
  post('gifts', 'a slow answer', { items: [{ ...gift, pin: '9100' }] }),
  post('gifts', 'slow nonsense', {
    items: [
      { ...gift, pin: '9100' },
      { ...gift, pin: '9502' },
    ],
  }),
  ...[
    'http://10.0.0.1/',
    'http://169.254.169.254/',
    'https://user:pass@a.example/',
    'HTTPS://A.EXAMPLE',
    ...noHosts,
  ].map((url) => post('hooks', `events to ${url}`, { ...hook, url })),
  post('hooks', 'no address', {}),
  post('hooks', 'another kind of authentication', { ...hook, authentication: { kind: 'bearer' } }),
  post('hooks', 'a login with a colon', {
    ...hook,
    authentication: { kind: 'basic', username: 'a:b', password: 'x' },
  }),
  post('hooks', 'no login', { ...hook, authentication: null }),
];

const texts: Case[] = [
  raw('malformed JSON', '{"method": "card",'),
  raw('no JSON at all', 'unicorn'),
  raw('a BOM', `\ufeff${JSON.stringify(card)}`),
  raw('two values', '{}{}'),
  raw('spaces', '   '),
  raw('NaN', '{"number": NaN}'),
  raw('a key twice', '{"method": "card", "method": "cash"}'),
  raw('a key twice, once escaped', '{"number": "1", "\\u006eumber": "2"}'),
  raw('a key twice, far inside', '{"x": [{"a": {"b": 1, "b": 1}}]}'),
  raw('a lone surrogate beside an escaped backslash', '{"x": "\\ud800\\\\\\udc00"}'),
  raw('bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22])),
  raw('an empty body', ''),
  raw('too large a body', JSON.stringify({ ...card, padding: 'x'.repeat(110_000) })),
  raw(
    'just small enough a body',
    `${JSON.stringify(card)}${' '.repeat(102_400 - JSON.stringify(card).length)}`,
  ),
  raw('one byte too many', `${JSON.stringify(card)}${' '.repeat(102_401 - JSON.stringify(card).length)}`),
  raw('too large once it is unpacked', gzipSync(' '.repeat(200_000)), { 'Content-Encoding': 'gzip' }),
  raw('very deep nesting', `{"items":${'['.repeat(40_000)}${']'.repeat(40_000)}}`),
  raw('gzip', gzipSync(JSON.stringify({ ...card, number: '4' })), { 'Content-Encoding': 'gzip' }),
  raw('gzip that is fine', gzipSync(JSON.stringify(card)), { 'Content-Encoding': 'gzip' }),
  raw('gzip that is none', 'x', { 'Content-Encoding': 'gzip' }),
  raw('an unknown encoding', '{}', { 'Content-Encoding': 'rot13' }),
  raw('chunks', '{"method": "card"}', { 'Transfer-Encoding': 'chunked' }),
  ...[
    'application/x-www-form-urlencoded',
    'text/plain',
    'application/json; charset=latin1',
    'application/jsonp',
    'json',
    '*/*',
    'application/problem+json',
    'application/json; v=2',
    'application/json, text/plain',
    'application/json;',
    'application/json; a="; charset=latin1"',
    'application/json; v=2; charset=latin1',
    ' ',
  ].map((type) => raw(`the media type "${type}"`, '{}', { 'Content-Type': type })),
  ...['Application/JSON; Charset="UTF-8"', 'application/json ;charset=utf-8'].map((type) =>
    raw(`the media type "${type}"`, '{}', { 'Content-Type': type }),
  ),
];

/** Cases for every operation that do not depend on its parameters. */
const ways = (id: OperationId): Case[] => {
  const path = examplePath(id);
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];
  const accounts = [
    'default',
    'marketplace',
    'unicorn',
    'Default',
    '*',
    '**',
    '',
    ' ',
    'default,',
    'x'.repeat(255),
    'x'.repeat(256),
    'ü',
    "'; --",
  ];
  return [
    ...methods
      .filter((method) => method !== operations[id].method.toUpperCase())
      .map((method) => ({ name: `method ${method}`, method, who: nobody })),
    ...(bodySchemaOf(id)
      ? [
          { name: 'an empty body', raw: '' },
          // No values, so the header is not sent.
          { name: 'no media type', headers: { 'Content-Type': [] } },
        ]
      : []),
    { name: 'a slash at the end', target: `${path}/` },
    { name: 'an unknown parameter', target: `${path}?unicorn=1` },
    ...['unicorn=%FF', 'limit=%zz', '%FF=1', '%', 'limit=1&limit=%C3'].map((query) => ({
      name: `the query ${query}`,
      target: `${path}?${query}`,
    })),
    { name: 'no token, before the query', who: nobody, target: `${path}?unicorn=1` },
    { name: 'no token', who: nobody },
    ...['Basic eA==', 'Bearer', 'Bearer ', 'Bearer a b', 'bearer', 'Token x', ''].map((text) => ({
      ...{ name: `Authorization: "${text}"`, who: nobody, headers: { Authorization: text } },
    })),
    ...['1', '0', 'true', '1, 1'].map((text) => ({
      name: `Early-Data: ${text}`,
      headers: { 'Early-Data': text },
    })),
    { name: 'early data, before the token', headers: { 'Early-Data': '1' }, who: nobody },
    ...accounts.map((account) => ({ name: `account "${account}"`, headers: { [merchantAccount]: account } })),
    ...['', 'ü', 'a\tb', 'x'.repeat(256), `key of ${id}`].map((key) => ({
      ...{ name: `idempotency key "${key}"`, headers: { 'Idempotency-Key': key } },
    })),
    { name: 'a bad key and a bad body', headers: { 'Idempotency-Key': 'ü' }, target: `${path}?unicorn=1` },
    { name: 'two accounts', headers: { [merchantAccount]: ['default', 'default'] } },
    {
      name: 'an unknown account, before the query',
      headers: { [merchantAccount]: 'unicorn' },
      target: `${path}?x=1`,
    },
    { name: 'an account, before the body', headers: { [merchantAccount]: 'x'.repeat(256) }, raw: '{' },
    {
      name: 'a preflight',
      method: 'OPTIONS',
      who: nobody,
      headers: { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'POST' },
    },
    { name: 'half a preflight', method: 'OPTIONS', headers: { Origin: 'https://shop.example' } },
    { name: 'from a page', headers: { Origin: 'https://shop.example' } },
    { name: 'a picture is wanted', headers: { Accept: 'image/png' } },
    { name: 'an odd request ID', headers: { 'X-Request-ID': 'a b' } },
  ];
};

function wire({ name, json, raw: text, ...given }: Case, who: Who): Wire {
  const body = text ?? (json === undefined ? undefined : JSON.stringify(json));
  const type: Wire['headers'] = body === undefined ? {} : { 'Content-Type': 'application/json' };
  return {
    ...{ name, method: 'GET', target: '/', who, ...given },
    headers: { ...type, ...given.headers },
    ...(body === undefined ? {} : { body }),
  };
}

export const namedCases = (who: Who): Wire[] => [
  ...[...bodies, ...texts, ...addresses].map((one) => wire(one, who)),
  ...(Object.keys(operations) as OperationId[]).flatMap((id) =>
    ways(id).map((way) => rightWire(id, who, way)),
  ),
];

/** A valid request with these changes. It stores nothing that affects other cases. */
export function rightWire(id: OperationId, who: Who, { name, ...way }: Case): Wire {
  const { body, method, path } = rightRequest(id);
  const json = id === 'createPaymentMethod' ? card : id === 'createWebhookSubscription' ? hook : body;
  return wire(
    { name: `${id}, ${name}`, method, target: path, ...(json === undefined ? {} : { json }), ...way },
    who,
  );
}
