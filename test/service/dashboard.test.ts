// The sandbox's pages for developers: who may use them, and what they tell.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { createServer, type ProxyOptions } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendBytes } from '../support/call.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { hasty, storeCard, subscribe } from '../support/webhooks.ts';
import { startTestMock } from './mock/support.ts';

const pagesDir = mkdtempSync(join(tmpdir(), 'payments-pages-'));
mkdirSync(join(pagesDir, 'console'));
mkdirSync(join(pagesDir, 'assets'));
for (const [file, content] of [
  ['index.html', '<title>Landing</title>'],
  ['console/index.html', '<title>Console</title>'],
  ['assets/dashboard.0123456789ab.js', '// script'],
] as const)
  writeFileSync(join(pagesDir, file), content);

let service: TestService;
let own: Record<string, string>;

beforeAll(async () => {
  service = await startTestService({ pagesDir, webhooks: hasty });
  // What a browser sends from our own page.
  own = {
    origin: new URL(service.url).origin,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
  };
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(pagesDir, { recursive: true, force: true });
});

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Not `fetch`, which lets nobody choose Host and Origin. */
const send = (method: string, path: string, headers: Record<string, string> = {}, url = service.url) =>
  new Promise<Answer>((done, failed) => {
    const sent = httpRequest(new URL(path, url), { method, headers }, (response) => {
      void readText(response).then((text) => {
        done({ status: response.statusCode ?? 0, headers: response.headers, text });
      }, failed);
    });
    sent.on('error', failed).end();
  });

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const anyEvent = '0190a1b2-0000-7000-8000-000000000000';

/** Everything that the dashboard answers, as its own pages ask for it. */
const everything = (): [method: string, path: string, headers: Record<string, string>][] => [
  ['GET', '/', html],
  ['GET', '/console/', html],
  ['GET', '/assets/dashboard.0123456789ab.js', {}],
  ['GET', '/sandbox/feed', { 'sec-fetch-site': 'same-origin' }],
  ['POST', '/sandbox/token', own],
  ['POST', `/sandbox/events/${anyEvent}/replay`, own],
];

const expectAbsent = ({ status, headers, text }: Answer) => {
  expect([status, headers['content-type']]).toEqual([404, 'application/json; charset=utf-8']);
  expect(JSON.parse(text)).toMatchObject({ type: 'error', code: 'not_found' });
};

describe('a person at this machine', () => {
  it('gets the landing page and the console, which nothing may frame or read', async () => {
    for (const [path, title, styles] of [
      ['/', 'Landing', "style-src 'self'"],
      ['/console/', 'Console', "style-src 'unsafe-inline' 'self'"],
    ] as const) {
      const { status, headers, text } = await send('GET', path, html);
      expect([status, text]).toEqual([200, `<title>${title}</title>`]);
      const policy = headers['content-security-policy'];
      expect(policy).toContain(`default-src 'none'; script-src 'self'; ${styles};`);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(headers['access-control-allow-origin']).toBeUndefined();
      expect(headers['cross-origin-resource-policy']).toBe('same-origin');
    }
  });

  it('sees that pages are being built beside the service, until they are there', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'payments-unbuilt-'));
    await using unbuilt = await startTestService({ siteDir: folder, pagesDir: folder });
    const paths = ['/', '/docs/'];
    for (const path of paths) {
      const { status, headers, text } = await send('GET', path, html, unbuilt.url);
      expect([status, headers.refresh, headers['cache-control']]).toEqual([503, '1', 'no-store']);
      expect(text).toContain('npm run docs');
    }
    writeFileSync(join(folder, 'index.html'), '');
    for (const path of paths) expect((await send('GET', path, html, unbuilt.url)).status).toBe(200);
    expect((await send('GET', '/docs/reference.html', html, unbuilt.url)).status).toBe(503);
    expect((await send('GET', '/client.tgz', {}, unbuilt.url)).headers['retry-after']).toBe('1');
    writeFileSync(join(folder, 'digest.txt'), '');
    expect((await send('GET', '/docs/reference.html', html, unbuilt.url)).status).toBe(404);
    rmSync(folder, { recursive: true });
  });

  it.each(['localhost', '127.0.0.1', '[::1]', '127.8.9.10'])('also under the name %s', async (name) => {
    const { port } = new URL(service.url);
    expect((await send('GET', '/', { ...html, host: `${name}:${port}` })).status).toBe(200);
  });

  it('programs that accept anything get a short text at /, as curl does', async () => {
    for (const headers of [{ accept: '*/*' }, { accept: 'text/plain' }, {}]) {
      const answer = await send('GET', '/', headers);
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
      expect(answer.text).toContain(`Docs:     ${service.url}/docs/`);
      expect(answer.text).toContain(`Contract: ${service.url}/openapi.json\n`);
    }
  });

  it('programs that want JSON get the 404 of the contract at /', async () => {
    expectAbsent(await send('GET', '/', { accept: 'application/json' }));
    expectAbsent(await send('POST', '/', html));
  });

  it('gets a token that works, and that is written nowhere', async () => {
    const { status, headers, text } = await send('POST', '/sandbox/token', own);
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    const { token } = JSON.parse(text) as { token: string };
    const answer = await service.call('GET', '/transactions', { token });
    expect(answer.status).toBe(200);
    const feed = (await send('GET', '/sandbox/feed')).text;
    for (const part of token.split('.')) {
      expect(feed).not.toContain(part);
      expect(service.logs.join('')).not.toContain(part);
    }
  });

  it('sees requests with answer and reason, and nothing of what was in them', async () => {
    const token = service.token('payment-methods.write');
    const number = '4012888888881881';
    await service.call('POST', '/payment-methods', {
      token,
      body: { method: 'card', number, secret_word: 'x' },
    });
    await fetch(`${service.url}/unicorns/4012888888881881?card=${number}`);
    const { requests } = JSON.parse((await send('GET', '/sandbox/feed')).text) as {
      requests: Record<string, unknown>[];
    };
    expect(requests.at(-2)).toMatchObject({
      method: 'POST',
      path: '/payment-methods',
      status: 400,
      code: 'bad_request',
      reason: expect.stringContaining('/expiration_date is required') as string,
    });
    expect(requests.at(-1)).toMatchObject({ path: '/unicorns/…', status: 404 });
    const shown = JSON.stringify(requests);
    expect(shown).not.toContain(number);
    expect(shown).not.toContain(token);
  });

  it('sees the query of a request, without card numbers and tokens', async () => {
    const token = service.token('transactions.read');
    const query = `search=4012888888881881&created_at_gte=${encodeURIComponent('2026-11-01T00:00:00Z')}`;
    await service.call('GET', `/transactions?${query}`, { token });
    await service.call('GET', `/transactions?bearer=${token}`, { token });
    const { requests } = JSON.parse((await send('GET', '/sandbox/feed')).text) as {
      requests: { query?: string }[];
    };
    expect(requests.slice(-2).map((one) => one.query)).toEqual([
      'search=[number]1881&created_at_gte=2026-11-01T00:00:00Z',
      'bearer=[token]',
    ]);
    expect(service.logs.join('')).not.toContain('created_at_gte');
  });

  it('sees which limit a 429 is about', async () => {
    const embed = service.token('embed');
    const body = { items: [{ number: '9999000050001234', pin: '1' }] };
    for (let calls = 0; calls < 51; calls += 1)
      await service.call('POST', '/gift-cards/balances', { token: embed, body });
    const { requests } = JSON.parse((await send('GET', '/sandbox/feed')).text) as {
      requests: { status: number; reason?: string }[];
    };
    expect(requests.at(-1)).toMatchObject({ status: 429, reason: 'too many calls with one embed token' });
  });

  it.each([
    ['ü', '/transactions?search=Müller', 'the URL has characters that must be percent-encoded'],
    ['…', '/transactions?cursor=…', 'the URL has characters that must be percent-encoded'],
    ['70 kB', `/transactions?search=${'x'.repeat(70_000)}`, 'the URL and the headers are too long'],
    [
      'a space',
      '/transactions?search=a Q',
      'the request line is not HTTP; a space in the URL must be percent-encoded',
    ],
  ])(
    'sees why a URL with %s was refused before it was read, and nothing of it',
    async (_name, path, reason) => {
      const token = service.token('transactions.read');
      const head = `Host: a\r\nAuthorization: Bearer ${token}\r\n\r\n`;
      const line = `GET ${path}&secret=xylophone HTTP/1.1\r\n`;
      expect(await sendBytes(service.url, line + head)).toMatch(/^HTTP\/1\.1 400 /);
      const feed = (await send('GET', '/sandbox/feed')).text;
      const noted = (JSON.parse(feed) as { requests: Record<string, unknown>[] }).requests.at(-1);
      const shown = { method: '–', path: '(unreadable)', status: 400, code: 'bad_request', reason };
      expect(noted).toMatchObject(shown);
      expect(JSON.parse(service.logs.at(-1) ?? '')).toMatchObject(shown);
      for (const secret of [token, 'xylophone', 'Müller'])
        expect(feed + service.logs.join('')).not.toContain(secret);
    },
  );

  it('sees at most the last hundred requests, or those after one that is known', async () => {
    for (let nth = 0; nth < 105; nth += 1) await fetch(`${service.url}/unicorns`);
    const feed = async (query = '') =>
      (JSON.parse((await send('GET', `/sandbox/feed${query}`)).text) as { requests: { number: number }[] })
        .requests;
    const all = await feed();
    expect(all).toHaveLength(100);
    const last = all.at(-1)?.number ?? 0;
    expect(await feed(`?after=${last - 3}`)).toHaveLength(3);
    expect(await feed(`?after=${last}`)).toEqual([]);
    expect(await feed('?after=unicorn')).toHaveLength(100);
  });

  it('does not see the docs and the contract among the requests, nor these pages', async () => {
    const before = (await send('GET', '/sandbox/feed')).text;
    await fetch(`${service.url}/openapi.json`);
    await fetch(`${service.url}/healthz`);
    expect((await send('GET', '/sandbox/feed')).text).toBe(before);
  });

  it('sees events with their deliveries, and replays one', async () => {
    await using receiver = await startReceiver();
    await subscribe(service, receiver.url);
    await storeCard(service);
    await receiver.received(1);
    const id = String(receiver.got[0]?.headers['webhook-id']);
    const find = async () => {
      const feed = JSON.parse((await send('GET', '/sandbox/feed')).text) as {
        events: { id: string; deliveries: { state: string; status: number; attempts: number }[] }[];
      };
      return feed.events.find((event) => event.id === id);
    };
    await expect.poll(find).toMatchObject({
      name: 'payment-method.created',
      deliveries: [{ host: new URL(receiver.url).host, state: 'succeeded', status: 204, attempts: 1 }],
    });
    expect(JSON.stringify(await find())).not.toContain('4111111111111111');
    const replayed = await send('POST', `/sandbox/events/${id}/replay`, own);
    expect([replayed.status, JSON.parse(replayed.text)]).toEqual([200, { replayed: 1 }]);
    await receiver.received(2);
    expect(receiver.got[1]?.headers['webhook-id']).toBe(id);
    const { db } = service.service.database;
    const entry = await db
      .selectFrom('audit_entries')
      .select('command')
      .orderBy('at', 'desc')
      .executeTakeFirst();
    expect(entry?.command).toBe(`webhooks replay ${id}`);
    expect((await send('POST', `/sandbox/events/${anyEvent}/replay`, own)).status).toBe(409);
  });
});

describe('everyone else gets the same 404 as for any unknown path', () => {
  const strangers: [name: string, headers: Record<string, string>][] = [
    ['DNS rebinding', { host: 'evil.example' }],
    ['DNS rebinding with our port', { host: 'evil.example:8080' }],
    ['a name that begins like ours', { host: '127.0.0.1.evil.example' }],
    ['a name that ends like ours', { host: 'evil-localhost' }],
    ['Forwarded', { forwarded: 'for=192.0.2.1' }],
    ['X-Forwarded-For', { 'x-forwarded-for': '192.0.2.1' }],
    ['X-Forwarded-Host', { 'x-forwarded-host': 'evil.example' }],
    ['X-Forwarded-Proto', { 'x-forwarded-proto': 'https' }],
    ['X-Real-IP', { 'x-real-ip': '192.0.2.1' }],
    ['Via', { via: '1.1 proxy' }],
  ];

  it.each(strangers)('%s', async (_, headers) => {
    for (const [method, path, usual] of everything())
      expectAbsent(await send(method, path, { ...usual, ...headers }));
  });

  const pagesOfOthers: [name: string, headers: Record<string, string>][] = [
    ['a page of another origin', { origin: 'https://evil.example' }],
    ['a page without an origin, such as a file', { origin: 'null' }],
    ['a page on another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['the same host over https', { origin: 'https://127.0.0.1' }],
    ['a page of another site, by the browser', { 'sec-fetch-site': 'cross-site' }],
    ['a page of the same site', { 'sec-fetch-site': 'same-site' }],
    ['an address bar', { 'sec-fetch-site': 'none' }],
  ];

  it.each(pagesOfOthers)('%s gets no data and does nothing', async (_, headers) => {
    for (const [method, path, usual] of everything().filter(([, path]) => path.startsWith('/sandbox/')))
      expectAbsent(await send(method, path, { ...usual, ...headers }));
  });

  it.each([
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a form with files', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['a form as text', { 'content-type': 'text/plain' }],
    ['a body that only looks like JSON', { 'content-type': 'text/plain; application/json' }],
  ])('%s does nothing', async (_, headers) => {
    for (const [method, path, usual] of everything().filter(([one]) => one === 'POST'))
      expectAbsent(await send(method, path, { ...usual, ...headers }));
  });

  it('neither does a GET, nor a POST without an Origin', async () => {
    const { origin: _, ...rest } = own;
    for (const [, path] of everything().filter(([method]) => method === 'POST')) {
      expectAbsent(await send('GET', path, own));
      expectAbsent(await send('POST', path, rest));
    }
  });

  // As nginx does by default, with the name of the upstream and without a header of its own.
  it.each(['service', 'mock'])('HTTP/1.0, by which a proxy hands on requests, to the %s', async (server) => {
    await using mock = await startTestMock({ pagesDir });
    const { host, origin } = new URL(server === 'mock' ? mock.url : service.url);
    const ask = async (version: string, [method, path, usual]: ReturnType<typeof everything>[number]) => {
      const headers = Object.entries({
        ...usual,
        ...(usual.origin && { origin }),
        host,
        connection: 'keep-alive',
      });
      const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      // A second request ends the connection, which a browser keeps.
      const last = `GET /healthz HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
      const answer = await sendBytes(origin, `${method} ${path} HTTP/${version}\r\n${head}\r\n${last}`);
      return [answer.split(' ')[1], answer.includes('\r\n\r\n{"type":"error","code":"not_found"')];
    };
    // The mock has no events.
    for (const asked of everything().slice(0, 5)) {
      expect([asked[1], ...(await ask('1.1', asked))]).toEqual([asked[1], '200', false]);
      expect([asked[1], ...(await ask('1.0', asked))]).toEqual([asked[1], '404', true]);
    }
  });

  // A proxy that speaks HTTP/1.1, as nginx does since 1.29.7, does not hand on what is meant for the next hop.
  it.each([{ connection: 'close' }, { connection: '' }, { connection: 'upgrade, keep-alive' }])(
    'data and actions, not from a browser: %o',
    async (headers) => {
      for (const [method, path, usual] of everything().filter(([, one]) => one.startsWith('/sandbox/')))
        expectAbsent(await send(method, path, { ...usual, ...headers }));
    },
  );

  /** What strangers get through the `server.proxy` of a frontend's development server, by the Connection that they send. */
  async function throughVite(options: ProxyOptions) {
    const proxy = { '/sandbox': { target: service.url, ...options } };
    const server = { host: '127.0.0.1', port: 0, ws: false, watch: null, proxy } as const;
    const vite = await createServer({ configFile: false, root: pagesDir, logLevel: 'silent', server });
    try {
      await vite.listen();
      const [url = ''] = vite.resolvedUrls?.local ?? [];
      const { host, origin } = new URL(service.url);
      const ask = async (method: string, path: string, connection: string) =>
        (await send(method, path, { ...own, host, origin, connection }, url)).status;
      const statuses: Record<string, number[]> = {};
      for (const connection of ['keep-alive', 'upgrade, keep-alive', 'close'])
        statuses[connection] = [
          await ask('GET', '/sandbox/feed', connection),
          await ask('POST', '/sandbox/token', connection),
        ];
      return statuses;
    } finally {
      await vite.close();
    }
  }

  it.each([{}, { changeOrigin: true }])("the proxy of Vite's development server: %o", async (options) => {
    const none = [404, 404];
    expect(await throughVite(options)).toEqual({
      'keep-alive': none,
      'upgrade, keep-alive': none,
      close: none,
    });
  });

  // Nothing in the request tells of such a proxy, so docs/guides/testing.md asks for a PUBLIC_URL: see the last test.
  it('known: not strangers behind that proxy with an agent that keeps connections', async () => {
    const agent = new Agent({ keepAlive: true });
    const statuses = await throughVite({ changeOrigin: true, agent });
    agent.destroy();
    expect(statuses['keep-alive']).toEqual([200, 200]);
  });

  it('and the log says why, where somebody looks for the pages behind a proxy', async () => {
    const reasonOf = async (headers: Record<string, string>, path = '/') => {
      service.logs.length = 0;
      expectAbsent(await send('GET', path, { ...html, ...headers }));
      return service.logs.map((line) => (JSON.parse(line) as { reason?: string }).reason).join('');
    };
    const proxied = 'this page is not served through a proxy';
    expect(await reasonOf({ 'x-forwarded-for': '192.0.2.1' })).toBe(proxied);
    expect(await reasonOf({ via: '1.1 proxy' }, '/console/')).toBe(proxied);
    expect(await reasonOf({ host: 'sandbox.example' })).toContain('only under a name of this machine');
    expect(await reasonOf({ via: '1.1 proxy' }, '/unicorns')).toBe('unknown path');
  });

  it.each([
    [
      'in production',
      { environment: 'production' as const, publicUrl: 'https://api.example' },
      { kind: undefined, isListed: false },
    ],
    [
      'on a server that other machines can reach',
      { host: '0.0.0.0', publicUrl: 'http://0.0.0.0:8080' },
      { kind: 'sandbox', isListed: false },
    ],
    [
      'on a server that is meant for others',
      { publicUrl: 'https://sandbox.example' },
      { kind: 'sandbox', isListed: true },
    ],
    [
      'in a container that is meant for others',
      { host: '0.0.0.0', publicUrl: 'https://sandbox.example' },
      { kind: 'sandbox', isListed: true },
    ],
  ])('%s', async (_, config, { kind, isListed }) => {
    await using other = await startTestService({ config, pagesDir });
    const url = `http://127.0.0.1:${other.service.port}`;
    const headers = { ...own, origin: url };
    for (const [method, path, usual] of everything())
      expectAbsent(await send(method, path, method === 'POST' ? headers : usual, url));
    const here = (await send('GET', '/docs/here.js', {}, url)).text;
    expect(/dataset, (\{.*\})/.exec(here)?.[1]).toBe(kind && JSON.stringify({ kind }));
    const { servers } = JSON.parse((await send('GET', '/openapi.json', {}, url)).text) as {
      servers: { url: string }[];
    };
    // Tools call the first one.
    expect(servers[0]?.url === other.config.publicUrl).toBe(isListed);
  });
});
