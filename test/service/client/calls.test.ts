// The client with the real service: valid calls, refused calls, merchant accounts and tokens.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createError } from '../../../client/errors.ts';
import { createPaymentsClient, PaymentsError, unwrap, type PaymentsClient } from '../../../client/index.ts';
import { errors, operations } from '../../../generated/operations.ts';
import { card } from '../../support/card.ts';
import { freePort } from '../../support/ports.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let client: PaymentsClient;

const clientOf = (token: string | (() => string | Promise<string>), merchantAccount?: string) =>
  createPaymentsClient({ baseUrl: service.url, token, merchantAccount });

const refusal = async (promise: Promise<unknown>): Promise<PaymentsError> => {
  const error: unknown = await promise.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(PaymentsError);
  return error as PaymentsError;
};

/** The address of a server that ends with the test. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close().closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  service = await startTestService();
  client = clientOf(service.token('*.read', '*.write'));
});
afterAll(() => service[Symbol.asyncDispose]());

describe('an answer', () => {
  it('is data, typed by the contract', async () => {
    const { data, error, response } = await client.GET('/card-scheme-definitions');
    expect(error).toBeUndefined();
    expect(response.status).toBe(200);
    expect(data?.items.find(({ id }) => id === 'visa')?.display_name).toBe('Visa');
  });

  it('to a POST is what was made', async () => {
    const external_identifier = `card-${randomUUID()}`;
    const { data } = await client.POST('/payment-methods', { body: { ...card, external_identifier } });
    expect(data).toMatchObject({ status: 'succeeded', scheme: 'visa', external_identifier });
  });

  it('to what is undefined is that to nothing', async () => {
    const asked: Request[] = [];
    const one = createPaymentsClient({
      baseUrl: service.url,
      token: service.token('*.read', '*.write'),
      fetch: (request) => {
        asked.push(request.clone());
        return fetch(request);
      },
    });
    const query = { search: undefined, currency: undefined, limit: 1 };
    expect((await one.GET('/transactions', { params: { query }, signal: undefined })).error).toBeUndefined();
    const body = { ...card, buyer_id: undefined };
    const params = { header: { 'Idempotency-Key': undefined } };
    expect((await one.POST('/payment-methods', { params, body })).error).toBeUndefined();
    expect(asked[0]?.url).toBe(`${service.url}/transactions?limit=1`);
    expect(await asked[1]?.json()).toEqual(card);
    // The client's own.
    expect(asked[1]?.headers.get('Idempotency-Key')).toMatch(/^\w{32}$/);
  });

  it('to filters holds them all; lists become repeated keys', async () => {
    const query = {
      status: ['capture_succeeded', 'authorization_declined'],
      currency: ['EUR', 'USD'],
      limit: 50,
    };
    const { items } = unwrap(await client.GET('/transactions', { params: { query: query as never } }));
    expect(items.length).toBeGreaterThan(0);
    expect(items.every(({ status }) => query.status.includes(status))).toBe(true);
    expect(items.every(({ currency }) => query.currency.includes(currency))).toBe(true);
  });

  it('takes null as cursor for the first page', async () => {
    const [first, same] = await Promise.all([
      client.GET('/transactions', { params: { query: { limit: 3 } } }),
      client.GET('/transactions', { params: { query: { limit: 3, cursor: null } } }),
    ]);
    expect(unwrap(same)).toEqual(unwrap(first));
  });
});

it('comes from the `fetch` that is global when the call is made, which tests replace', async () => {
  vi.stubGlobal('fetch', () => Promise.resolve(Response.json({ items: [] })));
  expect(unwrap(await client.GET('/card-scheme-definitions'))).toEqual({ items: [] });
  vi.unstubAllGlobals();
});

describe('an error', () => {
  it('comes as `error` beside the response, with status, code, details and request ID; unwrap throws it', async () => {
    const answer = await client.POST('/payment-methods', {
      body: { ...card, number: '4111-1111-1111-1111' },
    });
    expect(answer.data).toBeUndefined();
    expect(answer.response.status).toBe(400);
    const error = await refusal(Promise.resolve(answer).then(unwrap));
    expect(error).toBe(answer.error);
    expect(error).toMatchObject({
      name: 'PaymentsError',
      status: 400,
      code: 'bad_request',
      details: [{ location: 'body', pointer: '/number' }],
      requestId: answer.response.headers.get('x-request-id'),
      resourceId: null,
      body: { type: 'error', code: 'bad_request', details: [{ pointer: '/number' }] },
    });
    expect(error.requestId).toMatch(/^[\w.:-]+$/);
    expect(error.message).toMatch(/^400 bad_request: .*body \/number .*\(request /);
  });

  it('409 names the record in the way', async () => {
    const body = { ...card, external_identifier: `taken-${randomUUID()}` };
    const { id } = unwrap(await client.POST('/payment-methods', { body }));
    const error = await refusal(client.POST('/payment-methods', { body }).then(unwrap));
    expect(error).toMatchObject({ status: 409, code: 'duplicate_record', resourceId: id });
    expect(error.message).toMatch(
      /^409 duplicate_record: body \/external_identifier is taken by another payment method/,
    );
  });

  it.each(Object.entries(errors))('%s says what happened', (code, { status, message }) => {
    const body = { type: 'error', code, status, message, details: [], resource_id: 'x' };
    const error = createError(new Response(null, { status }), body, 'GET /');
    expect(error.message).toMatch(new RegExp(`^${status} ${code}: [A-Z][^:]{15,}$`));
    expect(error.message).not.toContain('Generic error');
  });

  it('with a code that a later version added says what the service says', () => {
    const body = { type: 'error', code: 'constructor', status: 418, message: 'I am new', details: [] };
    expect(createError(new Response(null, { status: 418 }), body, 'GET /').message).toBe(
      '418 constructor: I am new',
    );
  });

  // Both are promised by the types, once the code is known.
  it('429 has seconds to wait also when a proxy removed the header', () => {
    const body = { type: 'error', code: 'too_many_requests', status: 429, message: '', details: [] };
    const seconds = (headers: Record<string, string>) =>
      createError(new Response(null, { status: 429, headers }), body, 'GET /').retryAfterSeconds;
    expect([seconds({ 'Retry-After': '7' }), seconds({})]).toEqual([7, 60]);
  });

  it.each([null, undefined])('409 that names no record (%s) is not one of the service', (resource_id) => {
    const body = {
      type: 'error',
      code: 'duplicate_record',
      status: 409,
      message: '',
      details: [],
      resource_id,
    };
    const error = createError(new Response(null, { status: 409 }), body, 'POST /');
    expect(error).toMatchObject({ status: 409, code: 'unknown', resourceId: null, body });
  });

  it('422 has the same form, made from its own shape', async () => {
    const query = { metadata: ['[]'] };
    const error = await refusal(client.GET('/transactions', { params: { query } }).then(unwrap));
    expect(error).toMatchObject({ status: 422, code: 'unprocessable' });
    expect(error.details[0]).toMatchObject({ location: 'query' });
    expect(error.details[0]?.pointer).toMatch(/^\/metadata/);
  });

  it('without a response names the request and the reason, not the query', async () => {
    const baseUrl = `http://127.0.0.1:${await freePort()}`;
    const nobody = createPaymentsClient({ baseUrl, token: 'x', retry: { tries: 1 } });
    const params = { query: { search: 'jane@example.com' } };
    const answer = await nobody.GET('/transactions', { params });
    expect(answer.response.status).toBe(0);
    const error = await refusal(Promise.resolve(answer).then(unwrap));
    expect(error).toMatchObject({ status: 0, code: 'no_response', details: [], requestId: null });
    expect(error.message).toMatch(
      new RegExp(`^no_response: GET /transactions got no response from ${baseUrl}: .*ECONNREFUSED`),
    );
    expect(error.message).not.toContain('jane');
    expect(error.cause).toBeInstanceOf(TypeError);
  });

  it.each([
    ['text', '<html>Bad gateway</html>', { 'Content-Type': 'text/html' }],
    ['nothing', null, { 'Content-Length': '0' }],
    ['other JSON', '{"error":"no"}', {}],
    ['the JSON of another framework', '{"detail":["no"]}', {}],
    ['JSON that resembles a 422', '{"detail":[{"loc":"body","msg":"no"}]}', {}],
    ['JSON that resembles an error', '{"type":"error","code":"x","message":"no","details":[null]}', {}],
    ['an error without a message', '{"type":"error","code":"x","details":[]}', {}],
  ])('of a proxy that answers with %s is a PaymentsError too', async (_, body, headers) => {
    const proxied = createPaymentsClient({
      baseUrl: service.url,
      token: 'x',
      retry: { tries: 1 },
      fetch: () => Promise.resolve(new Response(body, { status: 502, headers })),
    });
    const error = await refusal(proxied.GET('/card-scheme-definitions').then(unwrap));
    expect(error).toMatchObject({ status: 502, code: 'unknown', details: [], requestId: null });
  });

  it.each([301, 302, 303, 307, 308])(
    'a redirect (%i) is not followed: card data must not reach another host',
    async (status) => {
      const bodies: string[] = [];
      const other = await serve((req, res) => {
        req.on('data', (chunk: Buffer) => bodies.push(chunk.toString()));
        req.on('end', () => res.writeHead(201, { 'Content-Type': 'application/json' }).end('{}'));
      });
      const first = await serve((req, res) => {
        req.resume().on('end', () => {
          res.writeHead(status, { Location: `${other}/payment-methods` }).end();
        });
      });
      const redirected = createPaymentsClient({ baseUrl: first, token: 'x' });
      // Not even if the call asks for it.
      const options = { body: card, redirect: 'follow' } as { body: typeof card };
      const error = await refusal(redirected.POST('/payment-methods', options).then(unwrap));
      expect(error).toMatchObject({ status, code: 'unknown' });
      expect(error.message).toContain('is a redirect');
      expect(bodies).toEqual([]);
    },
  );

  it('is thrown too when a success has no body', async () => {
    const proxied = createPaymentsClient({
      baseUrl: service.url,
      token: 'x',
      fetch: () => Promise.resolve(new Response(null, { status: 204 })),
    });
    expect(await refusal(proxied.GET('/card-scheme-definitions').then(unwrap))).toMatchObject({
      status: 204,
      code: 'unknown',
    });
  });
});

describe('what the caller must not see or send', () => {
  const privateKey = '-----BEGIN PRIVATE KEY-----\nMIHuAgEAMBAGByqGSM49\n-----END PRIVATE KEY-----\n';

  it.each([
    ['a private key in place of a token', privateKey],
    ['a token of two lines', 'hunter2\nhunter2'],
    ['a page in place of a token', '<!doctype html> hunter2'],
    ['a page without spaces', '<html>hunter2</html>'],
    ['a token in other letters', 'hunter2 ключ'],
  ])('%s is refused without being quoted', async (_name, token) => {
    for (const one of [clientOf(token), clientOf(() => Promise.resolve(token))]) {
      const error: unknown = await one.GET('/transactions').catch((caught: unknown) => caught);
      expect(inspect(error)).toContain('`token` is not an access token');
      expect(inspect(error)).not.toMatch(/MIHuAg|hunter2/);
      expect(inspect(error).includes('It is a page')).toBe(token.startsWith('<'));
    }
  });

  it('a token function that returns nothing is told so', async () => {
    const nothing = clientOf((() => undefined) as never).GET('/transactions');
    await expect(nothing).rejects.toThrow('`token` is not an access token');
  });

  it('the end of the line in a file is not part of the token', async () => {
    expect((await clientOf(`${service.token('*.read')}\n`).GET('/transactions')).response.status).toBe(200);
  });
});

it('a page in place of JSON is an error like any other', async () => {
  const baseUrl = await serve((request, response) => {
    request.resume();
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end('<html>Log in</html>');
  });
  const params = { query: { search: 'jane@example.com' } };
  for (const address of [baseUrl, `${baseUrl}/`]) {
    const { error } = await createPaymentsClient({ baseUrl: address, token: 't' }).GET('/transactions', {
      params,
    });
    expect(error?.message).toBe(
      `200 unknown: The response does not come from the service: GET ${baseUrl}/transactions returned text/html; is baseUrl right?`,
    );
    expect(error?.body).toBe('<html>Log in</html>');
  }
});

describe('a success of another shape is an error like any other', () => {
  const page = { items: [], limit: 20, next_cursor: null, previous_cursor: null };
  const answering = (body: unknown) =>
    createPaymentsClient({
      baseUrl: service.url,
      token: 't',
      fetch: () => Promise.resolve(Response.json(body)),
    });
  const shapes: unknown[] = [{ login: true }, 'welcome', 5, [], null, { data: [] }];

  it.each([...shapes, { items: null }, { items: [] }, { ...page, next_cursor: 5 }])(
    'a page: %j',
    async (body) => {
      const client = answering(body);
      const walks = [client.paginate('/transactions').next(), client.pages('/transactions').next()];
      for (const call of [client.GET('/transactions').then(unwrap), ...walks]) {
        const error = await refusal(call);
        expect(error).toMatchObject({ status: 200, code: 'unknown', details: [] });
        expect(error.message).toContain('is baseUrl right?');
      }
    },
  );

  it.each([...shapes, { items: {} }])('a list: %j', async (body) => {
    const { error } = await answering(body).GET('/card-scheme-definitions');
    expect(error).toMatchObject({ status: 200, code: 'unknown' });
  });

  it.each([...shapes, page, { type: 5 }])('a resource: %j', async (body) => {
    const { error } = await answering(body).POST('/payment-methods', { body: card });
    expect(error).toMatchObject({ status: 200, code: 'unknown' });
  });

  it('its body is in the error, and the message says what it is', async () => {
    const { error } = await answering({ login: true }).GET('/transactions');
    expect(error?.body).toEqual({ login: true });
    expect(error?.message).toContain('returned JSON of another shape');
  });

  it('fields that a later version adds are no other shape', async () => {
    expect(unwrap(await answering({ ...page, total: 0 }).GET('/transactions'))).toEqual({
      ...page,
      total: 0,
    });
  });
});

describe('`baseUrl`', () => {
  const make = (baseUrl: unknown) => () => createPaymentsClient({ baseUrl, token: 't' } as never);
  const missing = '`baseUrl` is missing; it begins with http://, https:// or /.';
  const noUrl = '`baseUrl` must begin with http://, https:// or /.';
  const changesPath = '`baseUrl` must not have ?, # or blanks in it.';

  it.each([
    ...[undefined, null, ''].map((wrong) => [wrong, missing]),
    ...['localhost:8080', 'api.example.com/v1', 'ftp://x', ' http://x', 'undefined'].map((wrong) => [
      wrong,
      noUrl,
    ]),
    ...['http://pay.example?a=1', 'https://pay.example/#x', '/pay ments', '/payments\n'].map((wrong) => [
      wrong,
      changesPath,
    ]),
    // Its password is not quoted.
    ['https://u:hunter2@pay.example', '`baseUrl` must not have a user name or password in it.'],
  ])('%j is refused: %s', (wrong, reason) => {
    expect(make(wrong)).toThrow(String(reason));
  });

  it.each(['http://x', 'HTTPS://x/y/', '/api', '/'])('may be `%s`', (right) => {
    expect(make(right)).not.toThrow();
  });

  it('with a wrong path is named by the message of the 404', async () => {
    const baseUrl = `${service.url}/v1`;
    const { error } = await createPaymentsClient({ baseUrl, token: 't' }).GET('/transactions');
    expect(error?.message).toContain(`; GET ${baseUrl}/transactions; is baseUrl right? (request `);
  });
});

describe('a mistake that the compiler would find', () => {
  const loose = () =>
    client as unknown as Record<'GET' | 'POST', (path: string, init?: object) => Promise<unknown>>;

  it.each([
    ['GET', '/transaction'],
    ['GET', '/payment-methods'],
    ['POST', '/transactions'],
    ['GET', 'transactions'],
    ['GET', '/toString'],
  ] as const)('%s %s: the error lists what the contract has', async (method, path) => {
    const call = loose()[method];
    const error: unknown = await call(path).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TypeError);
    const { message } = error as TypeError;
    expect(message).toContain(`has no ${method} ${path}. It has `);
    for (const one of Object.values(operations))
      expect(message).toContain(`${one.method.toUpperCase()} ${one.path}`);
  });

  it('a path that is wrong is told to whoever pages through it, too', async () => {
    const walk = client.paginate('/transaction' as '/transactions');
    await expect(walk.next()).rejects.toThrow(/has no GET \/transaction\. It has .*GET \/transactions/);
    const unpaged = client.pages('/card-scheme-definitions' as '/transactions');
    await expect(unpaged.next()).rejects.toThrow('/card-scheme-definitions has no pages. Call GET.');
  });

  it('a query outside of `params` is refused, because a filter that is ignored finds everything', async () => {
    const options = { query: { currency: ['EUR'] } };
    await expect(loose().GET('/transactions', options)).rejects.toThrow('{ params: { query: { … } } }');
    await expect(client.paginate('/transactions', options as object).next()).rejects.toThrow('params');
  });
});

it('middleware of openapi-fetch runs once per call, around its attempts, and does not see the token', async () => {
  const seen: (string | null)[] = [];
  let attempts = 0;
  const own = createPaymentsClient({
    baseUrl: service.url,
    token: service.token('*.read'),
    fetch: (request) => {
      attempts += 1;
      return attempts === 1 ? Promise.resolve(new Response(null, { status: 503 })) : fetch(request);
    },
    retry: { sleep: () => Promise.resolve() },
  });
  own.use({
    onRequest({ request }) {
      seen.push(request.headers.get('Authorization'));
      request.headers.set('X-Request-ID', 'of-the-middleware');
    },
    onResponse({ response, schemaPath }) {
      seen.push(`${schemaPath} ${response.status}`);
    },
  });
  const { data, response } = await own.GET('/card-scheme-definitions');
  expect(data?.items.length).toBeGreaterThan(0);
  expect(response.headers.get('X-Request-ID')).toBe('of-the-middleware');
  expect([attempts, seen]).toEqual([2, [null, '/card-scheme-definitions 200']]);
});

describe('the merchant account', () => {
  const accounts = async (from: PaymentsClient, header?: string) => {
    const { items } = unwrap(
      await from.GET('/transactions', {
        params: {
          query: { limit: 100 },
          ...(header && { header: { 'X-Service-Merchant-Account-ID': header } }),
        },
      }),
    );
    return [...new Set(items.map(({ merchant_account_id }) => merchant_account_id))].sort();
  };

  it('is that of the client, the oldest without one, and `*` for all', async () => {
    const token = service.token('*.read');
    expect(await accounts(clientOf(token, 'marketplace'))).toEqual(['marketplace']);
    expect(await accounts(clientOf(token))).toEqual(['default']);
    expect(await accounts(clientOf(token, '*'))).toEqual(['default', 'marketplace']);
  });

  it('may be another for one call', async () => {
    const marketplace = clientOf(service.token('*.read'), 'marketplace');
    expect(await accounts(marketplace, 'default')).toEqual(['default']);
    const params = { header: { 'X-Service-Merchant-Account-ID': 'default' } };
    const { value } = await marketplace.paginate('/transactions', { params }).next();
    expect(value?.merchant_account_id).toBe('default');
  });
});

describe('the token', () => {
  it('is asked for at every call, and a failure to get one is the caller’s own', async () => {
    let asked = 0;
    const counting = clientOf(() => service.token('*.read', ...(asked++ < 2 ? [] : ['*.write'])));
    await counting.GET('/card-scheme-definitions');
    await counting.GET('/card-scheme-definitions');
    expect(asked).toBe(2);
    const failing = clientOf(() => Promise.reject(new Error('logged out')));
    await expect(failing.GET('/card-scheme-definitions')).rejects.toThrow('logged out');
  });

  it('is demanded when the client is made', () => {
    expect(() => createPaymentsClient({ baseUrl: service.url } as never)).toThrow(/`token` is missing/);
  });
});
