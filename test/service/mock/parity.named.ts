/**
 * The hand-written part of the corpus: cases that the generator does not produce. Mock and service share the steps that read and
 * check a body, so there are few bodies here; pipeline.test.ts and test/contract/violations.test.ts have the others.
 */
import { gzipSync } from 'node:zlib';
import { operations, type OperationId } from '../../../generated/operations.ts';
import { card } from '../../support/card.ts';
import { bodySchemaOf } from '../../support/requests.ts';
import { examplePath } from '../../support/valid-request.ts';
import type { Who, Wire } from './parity.exchange.ts';
import { rightRequest } from './support.ts';

type Case = Partial<Omit<Wire, 'body'>> & { name: string; json?: unknown; raw?: string | Buffer };

const nobody: Who = { kind: 'nobody', says: 'nobody' };

const get = (target: string): Case => ({ name: `GET ${target}`, target });

const queries: Case[] = [
  ...['', '&&', '?', '=', '=1', 'limit', 'limit=5&limit=', 'limit=%35', '%6cimit=5', '%6Cimit=0', '#'],
  ...['limit=5+', 'limit=%2B5', 'limit=5#limit=x', 'limit=5;cursor=x', 'limit[0]=5', 'limit.x=5'],
  ...['%zz=%zz', 'cursor=%zz', 'cursor=%00', 'search=%F0%9F%A6%84', 'search=%ED%A0%80', 'search=+'],
  ...['status=processing,capture_succeeded', 'currency=USD,EUR', 'amount_gte=5&amount_lte=1', 'constructor'],
  ...['created_at_gte=2026-01-01T00:00:00+01:00', 'created_at_gte=9999-12-31T23:59:59.999999999Z'],
  ...['amount_eq=-0', 'amount_eq=007', 'has_refunds', 'toString=1&__proto__=2', 'buyer_id=no-uuid', 'id=7'],
  ...['cursor', 'cursor=', 'cursor=null', 'cursor=&cursor=', 'cursor=foreign', 'cursor=bW9jaw'],
  ...['cursor=foreign&limit=0', 'metadata=x', 'metadata=%5B%5D', 'metadata=%7B%22a%22%3A%22b%22%7D'],
  ...['metadata=%7B%7D&metadata=%5B%5D&cursor=foreign', 'metadata=x&metadata=y&limit=0'],
  `metadata=%7B%7D&metadata=${encodeURIComponent(JSON.stringify(Object.assign({}, Array(21).fill('x'))))}`,
  `${'&'.repeat(1_200)}limit=0`,
  `search=${'x'.repeat(17_000)}`,
].map((query) => get(`/transactions?${query}`));

const approval = '/sandbox/approvals/0a1b2c3d-0000-4000-8000-00000000ffff';
const otherPaths: Case[] = [
  ...['/', '//', '/unicorns', '/transactions/', '//transactions', '/Transactions', '/transactions%00'],
  ...['/transactions%2F', '/%74ransactions', '/transactions;limit=1', '/transactions/../transactions'],
  ...['/gift-cards', '/gift-cards%2Fbalances', '/%', '/%zz', '/%E0%A4%A', '/sandbox/approvals/%zz'],
  ...[
    '/sandbox/approvals/7',
    `${approval}/x`,
    '/assets/card-schemes/%zz.svg',
    '/assets/card-schemes/visa.png',
  ],
  ...['/healthz/', '/Healthz', '/openapi.yaml', '/favicon.ico', 'http://elsewhere.example/transactions', '*'],
].flatMap((target) => [get(target), { ...get(target), name: `POST ${target}`, method: 'POST' }]);

const pages: Case[] = [
  '/healthz',
  '/readyz',
  '/openapi.json',
  '/assets/card-schemes/visa.svg',
  approval,
].flatMap((target) =>
  ['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE'].map((method) => ({
    ...{ name: `${method} ${target}`, method, target, who: nobody },
  })),
);

const addresses: Case[] = [...queries, ...otherPaths, ...pages, { ...get('/docs'), who: nobody }];

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

const bodies: Case[] = [
  post('cards', 'a card', card),
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
  ...noHosts.map((redirect_url) => post('cards', `back to ${redirect_url}`, { ...card, redirect_url })),
  post('gifts', 'ten cards', { items: Array.from({ length: 10 }, () => gift) }),
  {
    ...post('gifts', 'a stored card of another account', {
      items: [{ id: '356d56e5-fe16-42ae-97ee-8d55d846ae2e' }],
    }),
    headers: { [merchantAccount]: 'marketplace' },
  },
  ...[
    'http://10.0.0.1/',
    'http://169.254.169.254/',
    'https://user:pass@a.example/',
    'HTTPS://A.EXAMPLE',
    ...noHosts,
  ].map((url) => post('hooks', `events to ${url}`, { ...hook, url })),
  post('hooks', 'a login with a colon', {
    ...hook,
    authentication: { kind: 'basic', username: 'a:b', password: 'x' },
  }),
  post('hooks', 'no login', { ...hook, authentication: null }),
];

const texts: Case[] = [
  raw('malformed JSON', '{"method": "card",'),
  raw('a BOM', `\ufeff${JSON.stringify(card)}`),
  raw('a key twice', '{"method": "card", "method": "cash"}'),
  raw('bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22])),
  raw('an empty body', ''),
  raw(
    'just small enough a body',
    `${JSON.stringify(card)}${' '.repeat(102_400 - JSON.stringify(card).length)}`,
  ),
  raw('one byte too many', `${JSON.stringify(card)}${' '.repeat(102_401 - JSON.stringify(card).length)}`),
  raw('too large once it is unpacked', gzipSync(' '.repeat(200_000)), { 'Content-Encoding': 'gzip' }),
  raw('gzip that is fine', gzipSync(JSON.stringify(card)), { 'Content-Encoding': 'gzip' }),
  raw('gzip that is none', 'x', { 'Content-Encoding': 'gzip' }),
  raw('an unknown encoding', '{}', { 'Content-Encoding': 'rot13' }),
  raw('chunks', '{"method": "card"}', { 'Transfer-Encoding': 'chunked' }),
  ...['text/plain', 'application/json; v=2', ' '].map((type) =>
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
    {
      name: 'a list as axios sends it',
      target: `${path}?currency[]=EUR&currency[1]=USD&status[]=processing`,
    },
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
