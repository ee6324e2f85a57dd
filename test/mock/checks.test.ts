// The mock refuses what the service refuses: the same status, code, pointers and types, in the same order of checks. Both are
// started, and sent the same requests.
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations, type Operation } from '../../generated/operations.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { rightRequest, send, startTestMock, type CallOptions, type TestMock } from './support.ts';

let mock: TestMock;
let service: TestService;
let token: string;
beforeAll(async () => {
  [mock, service] = await Promise.all([startTestMock(), startTestService()]);
  token = service.token('*.read', '*.write');
});
afterAll(async () => {
  await mock[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

interface Request extends CallOptions {
  name: string;
  method?: string;
  path: string;
}

const card = { method: 'card', number: '4111111111111111', expiration_date: '12/39' };
const cards = (name: string, body: unknown): Request => ({
  name,
  method: 'POST',
  path: '/payment-methods',
  body,
});
const gifts = (name: string, body: unknown): Request => ({
  name,
  method: 'POST',
  path: '/gift-cards/balances',
  body,
});
const hooks = (name: string, body: unknown): Request => ({
  name,
  method: 'POST',
  path: '/webhook-subscriptions',
  body,
});
const get = (path: string): Request => ({ name: `GET ${path}`, path });
const header = 'X-Service-Merchant-Account-ID';
const account = (name: string, path: string, id: string): Request => ({
  name,
  path,
  headers: { [header]: id },
});
const posted = (name: string, options: CallOptions): Request => ({
  name,
  method: 'POST',
  path: '/payment-methods',
  ...options,
});

const refused: Request[] = [
  cards('an empty object', {}),
  cards('a wrong type', { ...card, number: 4111111111111111 }),
  cards('a short number, a wrong date and a wrong method', {
    method: 'cash',
    number: '4',
    expiration_date: '1/2',
  }),
  cards('two buyers', {
    ...card,
    buyer_id: 'fe26475d-ec3e-4884-9553-f7356683f7f9',
    buyer_external_identifier: 'b',
  }),
  cards('an unknown property', { ...card, cvv: '123' }),
  cards('a property called __proto__', JSON.parse('{"__proto__": 1}')),
  cards('a list', []),
  cards('a text', 'card'),
  cards('null', null),
  cards('a relative address', { ...card, redirect_url: '/done' }),
  cards('no uuid', { ...card, buyer_id: 'buyer' }),
  cards('too long an identifier', { ...card, external_identifier: 'x'.repeat(201) }),
  gifts('no items', { items: [] }),
  gifts('eleven items', {
    items: Array.from({ length: 11 }, () => ({ number: '9999000050001234', pin: '1' })),
  }),
  gifts('a number without its PIN', { items: [{ number: '9999000050001234' }] }),
  gifts('number and id', { items: [{ number: '9999000050001234', pin: '1', id: 'x' }] }),
  gifts('the second of two', { items: [{ number: '9999000050001234', pin: '1' }, { id: 'no uuid' }] }),
  gifts('not even objects', { items: [1, null, 'x'] }),
  hooks('no address', {}),
  hooks('an address without its scheme', { url: 'shop.example' }),
  hooks('another kind of authentication', { url: 'https://a.example', authentication: { kind: 'bearer' } }),
  hooks('active as a text', { url: 'https://a.example', active: 'yes' }),
  get('/transactions?limit=0'),
  get('/transactions?limit=501'),
  get('/transactions?limit=0x10'),
  get('/transactions?limit=5&limit=6'),
  get('/transactions?limit='),
  get('/transactions?curency=USD&limit=x&created_at_gte=yesterday'),
  get('/transactions?created_at_gte=2026-01-01T00:00:00+01:00'),
  get('/transactions?status=paid&status=capture_succeeded'),
  get('/transactions?amount_eq=-1&has_refunds=maybe&currency=usd'),
  get('/transactions?toString=1&__proto__=2'),
  get('/api-key-pairs?limit=101&cursor='),
  get('/webhook-subscriptions?active=true'),
  get('/card-scheme-definitions?limit=1'),
  get('/transactions?%zz=%zz'),
  posted('malformed JSON', { raw: '{"method": "card",' }),
  posted('an empty body', { raw: '' }),
  posted('no body at all', {}),
  posted('too large a body', { raw: JSON.stringify({ ...card, padding: 'x'.repeat(110_000) }) }),
  posted('a form', { raw: 'number=4', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }),
  posted('another charset', { raw: '{}', headers: { 'Content-Type': 'application/json; charset=latin1' } }),
  posted('gzip that is none', { raw: 'x', headers: { 'Content-Encoding': 'gzip' } }),
  posted('gzip', { raw: gzipSync('{"a":1}'), headers: { 'Content-Encoding': 'gzip' } }),
  posted('an unknown encoding', { raw: '{}', headers: { 'Content-Encoding': 'rot13' } }),
  account('too long an account', '/transactions', 'x'.repeat(256)),
  account('too long an account where none is needed', '/card-scheme-definitions', 'x'.repeat(256)),
  account('an unknown account', '/transactions', 'unicorn'),
  { ...cards('all accounts where one is needed', card), headers: { [header]: '*' } },
  get('/transactions?metadata=x'),
  get('/transactions?metadata=%7B%7D&metadata=%5B%5D&metadata=%7B%22a%22%3A1%7D&cursor=foreign'),
  get('/transactions?cursor=foreign'),
  get('/api-key-pairs?cursor=foreign'),
  get('/webhook-subscriptions?cursor=bW9jaw'),
  get('/'),
  get('/unicorns'),
  get('/transactions/'),
  get('//transactions'),
  get('/Transactions'),
  get('/transactions%00'),
  get('/transactions%2F'),
  get('/transactions;limit=1'),
  { name: 'another method', method: 'DELETE', path: '/transactions' },
  { name: 'PATCH where there are two methods', method: 'PATCH', path: '/webhook-subscriptions', token: null },
  { name: 'OPTIONS that is no preflight', method: 'OPTIONS', path: '/payment-methods' },
  { ...cards('early data, before the token', card), token: null, headers: { 'Early-Data': '1' } },
  { ...cards('no token, before the body', {}), token: null },
  { ...get('/transactions?unicorn=1'), name: 'no token, before the query', token: null },
  {
    ...get('/transactions'),
    name: 'another scheme than Bearer',
    token: null,
    headers: { Authorization: 'Basic eA==' },
  },
  {
    ...get('/transactions'),
    name: 'a token in two parts',
    token: null,
    headers: { Authorization: 'Bearer a b' },
  },
  { ...account('an account before the body', '/payment-methods', 'unicorn'), method: 'POST', raw: '{' },
];

const accepted: Request[] = [
  cards('a card', card),
  {
    ...cards('a media type in other letters', card),
    headers: { 'Content-Type': 'Application/JSON; Charset="UTF-8"' },
  },
  posted('gzip', { raw: gzipSync(JSON.stringify(card)), headers: { 'Content-Encoding': 'gzip' } }),
  account('the second account', '/transactions', 'marketplace'),
  account('all accounts', '/webhook-subscriptions', '*'),
  account('any account where none is needed', '/card-scheme-definitions', 'unicorn'),
  get('/transactions?created_at_gte=2026-01-01T00:00:00%2B01:00&status=processing'),
  get('/transactions?metadata=%7B%22a%22%3A%22b%22%7D'),
  {
    name: 'a body where none is read',
    path: '/card-scheme-definitions',
    headers: { 'Content-Type': 'text/plain' },
  },
];

const shown = ['content-type', 'allow', 'www-authenticate', 'access-control-allow-origin', 'retry-after'];

async function both({ method = 'GET', path, ...options }: Request) {
  const asked = { token, ...options };
  return Promise.all(
    [mock.url, service.url].map(async (url) => {
      const { status, headers, body } = await send(url, method, path, asked);
      return { status, body, headers: shown.map((name) => [name, headers.get(name)]) };
    }),
  );
}

describe('what the service refuses', () => {
  it.each(refused)('$name', async (request) => {
    const [mocked, real] = await both(request);
    expect(real?.status).toBeGreaterThanOrEqual(400);
    expect(mocked).toEqual(real);
    await mock.call(request.method ?? 'GET', request.path, { token, ...request });
  });

  it('what is not even HTTP', async () => {
    const answers = await Promise.all(
      [mock.url, service.url].map((url) => raw(url, 'GET / unicorn\r\n\r\n')),
    );
    const [mocked, real] = answers.map((text) => text.replace(/X-Request-ID: .*/, ''));
    expect(mocked).toContain('"code":"bad_request"');
    expect(mocked).toBe(real);
  });

  it('an absolute address in the request line', async () => {
    const line = 'GET http://x/transactions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const answers = await Promise.all([mock.url, service.url].map((url) => raw(url, line)));
    expect(answers.map((text) => text.split('\r\n')[0])).toEqual(Array(2).fill('HTTP/1.1 404 Not Found'));
  });
});

describe('what the service accepts', () => {
  it.each(accepted)('$name', async (request) => {
    const [mocked, real] = await both(request);
    expect(real?.status).toBeLessThan(300);
    expect(mocked?.status).toBe(real?.status);
  });
});

describe('tokens', () => {
  const every = Object.values(operations) as Operation[];
  const scopes = [
    'embed',
    '*.read',
    '*.write',
    ...every.flatMap((operation) => operation.scopes),
    'unicorns.read',
  ];

  it.each([...new Set(scopes)])('a JWT with %s reaches what it reaches at the service', async (scope) => {
    const own = service.token(scope);
    for (const { id } of Object.values(operations)) {
      const { method, path, ...rest } = rightRequest(id);
      // An unknown parameter: 403 comes before 400, and nothing is stored.
      const [mocked, real] = await both({ name: id, method, path: `${path}?unicorn=1`, ...rest, token: own });
      expect([id, mocked?.status]).toEqual([id, real?.status]);
    }
  });

  it.each(['anything', 'a.b.c', 'eyJhbGciOiJub25lIn0.bm8ganNvbg.', '🦄'])(
    'any opaque text passes: %s',
    async (text) => {
      const { status } = await mock.call('GET', '/transactions', { token: encodeURIComponent(text) });
      expect(status).toBe(200);
    },
  );

  it.each([undefined, 'transactions.read', [1], ['transactions.everything']])(
    'a JWT whose scopes are %j is no token at all, as at the service',
    async (value) => {
      const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
      const text = `${part({ alg: 'ES512', typ: 'JWT' })}.${part({ scopes: value })}.c2ln`;
      expect((await mock.call('GET', '/transactions', { token: text })).status).toBe(401);
    },
  );
});

describe('CORS', () => {
  it('a preflight is answered before anything else, and lets Prefer through', async () => {
    const response = await fetch(`${mock.url}/unicorns`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'POST' },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-headers')).toMatch(/Authorization.*Prefer/);
  });
});

describe('request IDs', () => {
  it("the caller's, if it is a sane one", async () => {
    const ids = await Promise.all(
      ['req-1', 'not sane'].map(async (id) => {
        const { headers } = await mock.call('GET', '/transactions', { headers: { 'X-Request-ID': id } });
        return headers.get('x-request-id');
      }),
    );
    expect(ids[0]).toBe('req-1');
    expect(ids[1]).not.toBe('not sane');
  });
});

function raw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((done, failed) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', failed);
    socket.on('close', () => {
      done(Buffer.concat(chunks).toString('utf8'));
    });
  });
}
