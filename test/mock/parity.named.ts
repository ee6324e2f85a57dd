/** The named part of the corpus: what no generator would think of. */
import { gzipSync } from 'node:zlib';
import { operations, type OperationId } from '../../generated/operations.ts';
import type { Who, Wire } from './parity.exchange.ts';
import { rightRequest } from './support.ts';

export const merchantAccount = 'X-Service-Merchant-Account-ID';
const nobody: Who = { kind: 'nobody', says: 'nobody' };
const card = { method: 'card', number: '4111111111111111', expiration_date: '12/39' };
const gift = { number: '9999000050001234', pin: '1' };
const hook = { url: 'https://shop.example/hooks', active: false };

type Case = Partial<Omit<Wire, 'body'>> & { name: string; json?: unknown; raw?: string | Buffer };

const paths = { cards: '/payment-methods', gifts: '/gift-cards/balances', hooks: '/webhook-subscriptions' };

const post = (to: keyof typeof paths, name: string, json: unknown): Case => ({
  ...{ name, method: 'POST', target: paths[to], json },
});
const raw = (name: string, text: string | Buffer, headers: Wire['headers'] = {}): Case => ({
  ...{ name, method: 'POST', target: paths.cards, raw: text, headers },
});
const get = (target: string): Case => ({ name: `GET ${target}`, target });
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
    ...{
      method: 'card',
      number: '5555555555554444',
      expiration_date: '12/29',
      external_identifier: 'card-8841',
    },
  }),
  post('cards', 'a property called __proto__', JSON.parse('{"__proto__": 1}')),
  post('cards', 'a relative address', { ...card, redirect_url: '/done' }),
  post('cards', 'an address with a line break', { ...card, redirect_url: 'https://a.example/\n' }),
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
  ...['http://10.0.0.1/', 'http://169.254.169.254/', 'https://user:pass@a.example/', 'HTTPS://A.EXAMPLE'].map(
    (url) => post('hooks', `events to ${url}`, { ...hook, url }),
  ),
  post('hooks', 'no address', {}),
  post('hooks', 'another kind of authentication', { ...hook, authentication: { kind: 'bearer' } }),
  post('hooks', 'a login with a colon', {
    ...{ ...hook, authentication: { kind: 'basic', username: 'a:b', password: 'x' } },
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
    ' ',
  ].map((type) => raw(`the media type "${type}"`, '{}', { 'Content-Type': type })),
  ...['Application/JSON; Charset="UTF-8"', 'application/json ;charset=utf-8'].map((type) =>
    raw(`the media type "${type}"`, '{}', { 'Content-Type': type }),
  ),
];

const queries: Case[] = [
  ...[
    '',
    '&&',
    '?',
    '=',
    '=1',
    'limit',
    'limit=',
    'limit=5&limit=6',
    'limit=5&limit=',
    'limit=%35',
    '%6cimit=5',
    '%6Cimit=0',
    'limit=0x10',
  ],
  ...[
    'limit=+5',
    'limit=5+',
    'limit=%2B5',
    'limit=٣',
    'limit=5#limit=x',
    '#',
    'limit=5;cursor=x',
    'limit[]=5',
    'limit[0]=5',
    'limit.x=5',
  ],
  ...[
    '%zz=%zz',
    'cursor=%zz',
    'cursor=%E0%A4%A',
    'cursor=%00',
    'external_identifier=%00',
    'search=%F0%9F%A6%84',
    'search=%ED%A0%80',
    'search=+',
    'search=%20',
  ],
  ...[
    'status=paid&status=capture_succeeded',
    'status[]=processing',
    'status=processing,capture_succeeded',
    'currency=usd',
    'currency=USD,EUR',
    'currency=',
  ],
  ...[
    'created_at_gte=2026-01-01T00:00:00+01:00',
    'created_at_gte=2026-01-01T00:00:00%2B01:00',
    'created_at_gte=2026-01-01t00:00:00z',
    'created_at_gte=0000-01-01T00:00:00Z',
    'created_at_gte=9999-12-31T23:59:59.999999999Z',
  ],
  ...[
    'amount_eq=-1',
    'amount_eq=-0',
    'amount_eq=007',
    'amount_eq=9007199254740992',
    'amount_gte=5&amount_lte=1',
    'has_refunds=TRUE',
    'has_refunds',
    'toString=1&__proto__=2',
    'constructor',
  ],
  ...[
    'cursor=foreign',
    'cursor=bW9jaw',
    `cursor=${'x'.repeat(1_000)}`,
    `cursor=${'x'.repeat(1_001)}`,
    'cursor=foreign&limit=0',
    'buyer_id=no-uuid',
    'id=7',
  ],
  ...[
    'metadata=x',
    'metadata=%5B%5D',
    'metadata=null',
    'metadata=%22a%22',
    'metadata=%7B%22a%22%3A1%7D',
    'metadata=%7B%22a%22%3A%22b%22%7D',
    'metadata=%7B%7D&metadata=%5B%5D&cursor=foreign',
    'metadata=%7B%22__proto__%22%3A%22x%22%7D',
    'metadata=x&metadata=y&limit=0',
  ],
  `${'&'.repeat(1_200)}limit=0`,
  `search=${'x'.repeat(17_000)}`,
].map((query) => get(`/transactions?${query}`.replace('٣', '%D9%A3')));

const approval = '/sandbox/approvals/0a1b2c3d-0000-4000-8000-00000000ffff';
const otherPaths: Case[] = [
  ...[
    '/',
    '//',
    '/unicorns',
    '/transactions/',
    '//transactions',
    '/Transactions',
    '/transactions%00',
    '/transactions%2F',
    '/%74ransactions',
  ],
  ...[
    '/transactions;limit=1',
    '/transactions/../transactions',
    '/./transactions',
    '/transactions/7',
    '/gift-cards',
    '/gift-cards%2Fbalances',
    '/%',
    '/%zz',
    '/%E0%A4%A',
  ],
  ...[
    '/sandbox/approvals/%zz',
    '/sandbox/approvals/7',
    '/sandbox/approvals/',
    `${approval}/x`,
    '/assets/card-schemes/%zz.svg',
    '/assets/card-schemes/unicorn.svg',
    '/assets/card-schemes/visa.png',
  ],
  ...[
    '/healthz/',
    '/Healthz',
    '/openapi.yaml',
    '/favicon.ico',
    '/robots.txt',
    'http://elsewhere.example/transactions',
    '*',
  ],
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

/** What may happen to any operation on its way in, before its own parameters matter. */
const ways = (id: OperationId): Case[] => {
  const { path } = operations[id];
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];
  const accounts = [
    ...[
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
    ],
  ];
  return [
    ...methods
      .filter((method) => method !== operations[id].method.toUpperCase())
      .map((method) => ({ name: `method ${method}`, method, who: nobody })),
    ...(operations[id].method === 'post'
      ? [
          { name: 'an empty body', raw: '' },
          { name: 'no media type', headers: { 'Content-Type': [] } },
        ]
      : []),
    { name: 'a slash at the end', target: `${path}/` },
    { name: 'an unknown parameter', target: `${path}?unicorn=1` },
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
  ...[...bodies, ...texts, ...queries, ...otherPaths, ...pages].map((one) => wire(one, who)),
  wire({ ...get('/docs'), who: nobody }, who),
  ...(Object.keys(operations) as OperationId[]).flatMap((id) =>
    ways(id).map((way) => rightWire(id, who, way)),
  ),
];

/** A request that the operation accepts, but for what is said. It leaves nothing behind that others would meet. */
export function rightWire(id: OperationId, who: Who, { name, ...way }: Case): Wire {
  const { body, method, path } = rightRequest(id);
  const json = id === 'createPaymentMethod' ? card : id === 'createWebhookSubscription' ? hook : body;
  return wire(
    { name: `${id}, ${name}`, method, target: path, ...(json === undefined ? {} : { json }), ...way },
    who,
  );
}
