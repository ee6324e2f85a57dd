// Clients that pipeline, do not read, stop in the middle, or send what is barely HTTP: each is bounded, and the others do not
// notice.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startMock, type Mock } from '../../mock/mock.ts';
import type { WriteDeps } from '../../server/handlers/deps.ts';
import { handlers } from '../../server/handlers/index.ts';
import { longestToken } from '../../server/kit/access/claims.ts';
import { signToken } from '../../server/kit/access/token.ts';
import type { Handler } from '../../server/kit/contract/handler-types.ts';
import type { Deadline } from '../../server/kit/database/connection.ts';
import { mostPieces, serveConnections } from '../../server/kit/http/connections.ts';
import { limits, listen } from '../../server/kit/http/listen.ts';
import { eventually, newDataDir } from '../support/data-dir.ts';
import { createTestDatabase } from '../support/database.ts';
import { leaks } from '../support/heap.ts';
import { keyIn } from '../support/keys.ts';
import { run, startServer } from '../support/processes.ts';
import { createAccount } from '../support/records.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

const portOf = (url: string) => Number(new URL(url).port);

/** A connection that sends `text` and, unless it is told not to, reads until it is closed. */
async function open(text: string, { url = service.url, reads = true } = {}) {
  const socket = connect(portOf(url), '127.0.0.1');
  const chunks: string[] = [];
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      resolve();
    });
  });
  socket.on('error', () => undefined);
  if (reads) socket.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  socket.write(text);
  return { socket, closed, text: () => chunks.join('') };
}

async function answerTo(text: string, url = service.url) {
  const connection = await open(text, { url });
  await connection.closed;
  const [head = '', body = ''] = connection.text().split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body };
}

const request = (path: string, ...headers: string[]) =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`;
/** A server with these limits, without the pipeline. */
async function serve(answer: RequestListener, given: Partial<typeof limits> & { mostRequests: number }) {
  const server = createServer().listen(0, '127.0.0.1');
  serveConnections(server, answer, { ...limits, ...given });
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Until the end of the test. */
function setLimit(
  name:
    | 'stalledMilliseconds'
    | 'headersMilliseconds'
    | 'nextRequestMilliseconds'
    | 'mostRequests'
    | 'connections',
  value: number,
): void {
  const before = limits[name];
  limits[name] = value;
  onTestFinished(() => void (limits[name] = before));
}

const isHealthy = async ({ url }: { url: string } = service) =>
  (await fetch(`${url}/healthz`)).status === 200;

describe('pipelining', () => {
  it('answers a few requests in order, one after the other', async () => {
    let running = 0;
    let most = 0;
    const slow: Handler<'listCardSchemeDefinitions', WriteDeps> = async (input, deps) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      return handlers.listCardSchemeDefinitions(input, deps);
    };
    await using own = await startTestService({ handlers: { ...handlers, listCardSchemeDefinitions: slow } });
    const authorization = `Authorization: Bearer ${own.token('*.read')}`;
    const ids = ['one', 'two', 'three', 'four', 'five'];
    const calls = ids.map((id, index) =>
      request(
        '/card-scheme-definitions',
        authorization,
        `X-Request-ID: ${id}`,
        ...(index === 4 ? ['Connection: close'] : []),
      ),
    );
    const connection = await open(calls.join(''), { url: own.url });
    await connection.closed;
    expect([...connection.text().matchAll(/X-Request-ID: (\w+)/gi)].map(([, id]) => id)).toEqual(ids);
    expect(most).toBe(1);
  });

  it('disconnects a client that sends hundreds and reads nothing', async () => {
    await using own = await startTestService();
    const flood = request('/openapi.json').repeat(1_800);
    const clients = await Promise.all(
      Array.from({ length: 3 }, () => open(flood, { url: own.url, reads: false })),
    );
    // A socket that does not read does not notice that it was closed until it does.
    for (const { socket } of clients) socket.on('data', () => undefined);
    await Promise.all(clients.map(({ closed }) => closed));
    // 1,800 answers on each of three connections would be more than a gigabyte.
    const answered = own.logs.filter((line) => line.includes('"method":"GET"'));
    expect(answered.length).toBeLessThanOrEqual(3 * 11);
    expect(await isHealthy(own)).toBe(true);
  });

  it('keeps nothing of requests whose client has gone, and parses few beyond the limit', async () => {
    const waiting: (() => void)[] = [];
    let requests = 0;
    const { server, url } = await serve((_req, res) => void waiting.push(() => res.end('ok')), {
      mostRequests: 3,
    });
    server.on('request', () => (requests += 1));
    const flood = await open(request('/x').repeat(5_000), { url });
    await flood.closed;
    expect(waiting).toHaveLength(1);
    // One chunk of 64 kB is parsed at once.
    expect(requests).toBeLessThan(2_500);
  });

  it('leaves no memory behind, however often clients come and go', async () => {
    const { port, close } = await listen(
      (_req, res) => res.end('x'.repeat(250_000)),
      { host: '127.0.0.1', port: 0 },
      { note: () => undefined, allowOf: () => undefined },
    );
    const flood = async () => {
      const client = await open(request('/x').repeat(500), { url: `http://127.0.0.1:${port}`, reads: false });
      setTimeout(() => client.socket.destroy(), 100);
      await client.closed;
    };
    // With a leak each round adds ten megabytes or more.
    expect(await leaks(4, () => Promise.all(Array.from({ length: 50 }, flood)))).toBe(false);
    await close();
  });

  it('does not execute what it could not answer: nothing after `Connection: close`', async () => {
    const paths: string[] = [];
    const answer: RequestListener = (req, res) => {
      paths.push(req.url ?? '');
      res.setHeader('Connection', 'close').end('ok');
    };
    const { url } = await serve(answer, { mostRequests: 100 });
    await (
      await open(request('/one') + request('/two'), { url })
    ).closed;
    expect(paths).toEqual(['/one']);
  });

  it('ends an answer that is not taken, although the client goes on sending', async () => {
    const { server, url } = await serve((_req, res) => res.end(Buffer.alloc(30_000_000)), {
      mostRequests: 100,
      answerMilliseconds: 300,
    });
    const ended = new Promise<void>((resolve) => {
      server.once('connection', (socket) => socket.once('close', resolve));
    });
    const { socket } = await open(request('/x'), { url, reads: false });
    const drip = setInterval(() => socket.write('G'), 50);
    await ended;
    clearInterval(drip);
    socket.destroy();
  });

  it('ends a connection after so many requests', async () => {
    setLimit('mostRequests', 3);
    await using own = await startTestService();
    const connection = await open(request('/healthz').repeat(5), { url: own.url });
    await connection.closed;
    expect(connection.text().match(/HTTP\/1\.1 200/g)).toHaveLength(3);
    expect(connection.text().match(/Connection: close/gi)).toHaveLength(1);
  });
});

describe('connections', () => {
  it('that nobody reads from end, and so do those on which nothing moves', async () => {
    setLimit('stalledMilliseconds', 300);
    await using own = await startTestService();
    // More than what fits in the buffers of both sides.
    const stalled = await open(request('/docs/').repeat(10), { url: own.url, reads: false });
    await eventually(async () => (await own.service.connections()) === 0, 'the connection ends');
    stalled.socket.destroy();
  });

  it('on which a body does not arrive get the 400 of the contract before they end', async () => {
    setLimit('stalledMilliseconds', 300);
    await using own = await startTestService();
    const headers = `Authorization: Bearer ${own.token('*.write')}\r\nContent-Type: application/json`;
    const { status, body } = await answerTo(
      `POST /payment-methods HTTP/1.1\r\nHost: a\r\nX-Request-ID: mine-1\r\n${headers}\r\nContent-Length: 50\r\n\r\n{`,
      own.url,
    );
    expect([status, JSON.parse(body)]).toEqual([400, expect.objectContaining({ code: 'bad_request' })]);
    expect(own.logs.join('')).toContain('"requestId":"mine-1"');
    expect(own.logs.join('')).toContain('the request did not arrive in time');
  });

  it('on which nothing was sent end without an answer and without a line in the log', async () => {
    setLimit('headersMilliseconds', 1);
    await using own = await startTestService();
    const unused = await open('', { url: own.url });
    await unused.closed;
    expect(unused.text()).toBe('');
    expect(own.logs.filter((line) => line.includes('"status":400'))).toEqual([]);
  });

  it.each([
    ['nothing else', ''],
    ['a request', request('/healthz')],
  ])('on which empty lines arrive for ever end, after %s', async (_name, first) => {
    setLimit('nextRequestMilliseconds', 300);
    await using own = await startTestService();
    const { socket, closed, text } = await open(first, { url: own.url });
    const drip = setInterval(() => socket.write('\r\n'), 20);
    await closed;
    clearInterval(drip);
    expect(text().startsWith('HTTP/1.1 200 ')).toBe(first !== '');
    expect(await isHealthy(own)).toBe(true);
  });

  it('beyond the limit are closed at once, and those within it are served', async () => {
    setLimit('connections', 20);
    await using own = await startTestService();
    const half = 'POST /payment-methods HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n{';
    const clients = await Promise.all(Array.from({ length: 40 }, () => open(half, { url: own.url })));
    const open20 = () => clients.filter(({ socket }) => !socket.destroyed).length;
    while (open20() > 20) await Promise.race(clients.filter(isOpen).map(({ closed }) => closed));
    expect(open20()).toBe(20);
    clients.find(isOpen)?.socket.destroy();
    while (!(await isHealthy(own).catch(() => false)));
    for (const { socket } of clients) socket.destroy();
  });

  const isOpen = ({ socket }: { socket: Socket }) => !socket.destroyed;

  it('1,000 idle and half-sent ones delay nobody else', async () => {
    const texts = ['', 'GE', 'GET /transactions HTTP/1.1\r\nHost:', request('/healthz').slice(0, -2)];
    const clients = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) => open(texts[index % texts.length] ?? '')),
    );
    const token = service.token('*.read');
    expect((await service.call('GET', '/transactions', { token })).status).toBe(200);
    for (const { socket } of clients) socket.destroy();
  });
});

describe('sizes', () => {
  let mock: Mock;
  beforeAll(async () => {
    mock = await startMock({ port: 0 });
  });
  afterAll(() => mock.close());

  const authorization = (own = service) => `Authorization: Bearer ${own.token('*.read')}`;

  it('headers and URL may have 64 kB together, in the service and in the mock', async () => {
    const padded = (bytes: number) => {
      const call = (padding: string) =>
        request('/card-scheme-definitions', authorization(), 'Connection: close', `X-Padding: ${padding}`);
      return call('x'.repeat(bytes - call('').length));
    };
    for (const to of [service.url, mock.url]) {
      // Node does not count the separators, so the limit is met to within a few bytes for each line.
      const statuses = await Promise.all(
        [63 * 1024, 66 * 1024].map(async (bytes) => (await answerTo(padded(bytes), to)).status),
      );
      expect([to, ...statuses]).toEqual([to, 200, 400]);
    }
  });

  it('a request may have 200 headers, in the service and in the mock', async () => {
    // With Host and Connection.
    const others = (count: number) => Array.from({ length: count - 2 }, (_, nth) => `X-${nth}: 1`);
    const refusal = { type: 'error', code: 'bad_request', status: 400, details: [] };
    for (const to of [service.url, mock.url]) {
      const ask = (first: string, ...headers: string[]) =>
        answerTo(`${first} HTTP/1.1\r\nHost: a\r\n${headers.join('\r\n')}\r\nConnection: close\r\n\r\n`, to);
      expect((await ask('GET /card-scheme-definitions', ...others(199), authorization())).status).toBe(200);
      for (const [first, ...headers] of [
        ['GET /card-scheme-definitions', ...others(200), authorization()],
        ['GET /docs/', ...others(201)],
        ['GET /unicorns', ...others(201)],
        ['OPTIONS /transactions', 'Origin: https://b', 'Access-Control-Request-Method: GET', ...others(199)],
        // Node would not show the last one to the pipeline.
        ['POST /payment-methods', ...others(3_000), 'Early-Data: 1'],
      ] as [string, ...string[]][]) {
        const { status, head, body } = await ask(first, ...headers);
        expect([to, first, status]).toEqual([to, first, 400]);
        expect(JSON.parse(body)).toMatchObject(refusal);
        expect(head).toMatch(/^X-Request-ID: [\w-]+/im);
        expect(head).toMatch(/^Access-Control-Allow-Origin: \*/im);
      }
      const two = await open(request('/unicorns') + request('/healthz', ...others(202)), { url: to });
      await two.closed;
      expect([...two.text().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
        '404',
        '400',
      ]);
    }
    expect(service.logs.join('')).toContain('there are more than 200 headers');
  });

  it('a token of more than 8 kB is 401, in the service and in the mock', async () => {
    const call = (to: string, token: string) =>
      answerTo(request('/transactions', `Authorization: Bearer ${token}`, 'Connection: close'), to);
    expect((await call(mock.url, 'x'.repeat(8 * 1024))).status).toBe(200);
    for (const to of [service.url, mock.url])
      expect((await call(to, 'x'.repeat(8 * 1024 + 1))).status).toBe(401);
    expect(service.logs.join('')).toContain('too long');
  });

  it('the introduction names them', async () => {
    const introduction = (await readFile('openapi/introduction.md', 'utf8')).replaceAll('\n', ' ');
    expect(introduction).toContain(`headers and URL of more than ${limits.headerBytes / 1024} kB together`);
    expect(introduction).toContain(`more than ${limits.headers} headers`);
    expect(introduction).toContain(`arrives in more than ${mostPieces.toLocaleString('en')} pieces`);
    expect(introduction).toContain(`a token of more than ${longestToken / 1024} kB`);
  });

  it('1,000 half-sent requests, as large as they may be, take a bounded amount of memory', async () => {
    await using dataDir = await newDataDir();
    const env = { DATA_DIR: dataDir.path, DATABASE_URL: await createTestDatabase() };
    await using server = await startServer(env);
    const memory = async () => {
      // A bare Debian has no ps, and macOS no /proc.
      const status = await readFile(`/proc/${server.pid}/status`, 'utf8').catch(() => '');
      const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
      return 1024 * Number(kilobytes ?? (await run('ps', ['-o', 'rss=', '-p', String(server.pid)])).stdout);
    };
    expect(await isHealthy(server)).toBe(true);
    const before = await memory();
    const header = `X-Padding: ${'x'.repeat(60 * 1024)}\r\n`;
    const half = `GET /transactions HTTP/1.1\r\nHost: a\r\n${header}`;
    const clients = await Promise.all(Array.from({ length: 1_000 }, () => open(half, { url: server.url })));
    // Each answer takes the server through its connections once, and it reads up to 64 kB of each.
    for (let turn = 0; turn < 5; turn += 1) expect(await isHealthy(server)).toBe(true);
    const grown = (await memory()) - before;
    expect(clients.filter(({ socket }) => socket.destroyed)).toEqual([]);
    for (const { socket } of clients) socket.destroy();
    // What they sent was read and is kept once, and there is as much again for buffers.
    expect(grown).toBeGreaterThan(10e6);
    expect(grown).toBeLessThan(1_000 * 3 * limits.headerBytes);
  });
});

describe('bodies in chunks of one byte', () => {
  /** Says at SIGUSR2 what the process has used. */
  const telling = `process.on('SIGUSR2', () => console.log('used ' + JSON.stringify(process.resourceUsage())))`;

  it('cost little CPU and memory, with a token and without', async () => {
    await using dataDir = await newDataDir();
    await using server = await startServer({
      DATA_DIR: dataDir.path,
      DATABASE_URL: await createTestDatabase(),
      NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(telling).toString('base64')}`,
    });
    const used = async () => {
      const told = () => [...server.output().matchAll(/^used (.*)$/gm)];
      const before = told().length;
      server.signal('SIGUSR2');
      await eventually(() => told().length > before, 'it tells what it has used');
      const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(
        told().at(-1)?.[1] ?? '',
      ) as NodeJS.ResourceUsage;
      return { seconds: (userCPUTime + systemCPUTime) / 1e6, megabytes: maxRSS / 1e3 };
    };
    for (const token of [signToken(keyIn(dataDir.path), ['embed'], 3600), 'x']) {
      const head =
        'POST /gift-cards/balances HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
        `Authorization: Bearer ${token}\r\nTransfer-Encoding: chunked\r\n\r\n`;
      // The first request compiles what the others use.
      await answerTo(`${head}1\r\nx\r\n0\r\n\r\n${request('/healthz', 'Connection: close')}`, server.url);
      const before = await used();
      const flood = head + '1\r\n[\r\n'.repeat(400_000);
      const clients = await Promise.all(Array.from({ length: 25 }, () => open(flood, { url: server.url })));
      await Promise.all(clients.map(({ closed }) => closed));
      const after = await used();
      // Ten million chunks took 20 s and 200 MB.
      expect(after.seconds - before.seconds).toBeLessThan(3);
      expect(after.megabytes - before.megabytes).toBeLessThan(100);
    }
    expect(await isHealthy(server)).toBe(true);
  });
});

describe('headers', () => {
  it('of every answer forbid to store it and to guess its type', async () => {
    for (const path of ['/transactions', '/unicorns', '/healthz', '/readyz']) {
      const { headers } = await fetch(service.url + path);
      expect([path, headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual([
        path,
        'no-store',
        'nosniff',
      ]);
      expect(headers.get('strict-transport-security')).toBeNull();
    }
  });

  it('demand TLS where the public URL has it', async () => {
    await using own = await startTestService({ config: { publicUrl: 'https://pay.example' } });
    const { headers } = await fetch(`http://127.0.0.1:${own.service.port}/transactions`);
    expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d+/);
  });

  it.each([
    ['4111111111111111', '[number]1111'],
    ['order-4111-1111-1111-1111.x', 'order-[number]1111.x'],
    ['11111111-1111-4111-8111-111111111111', '11111111-1111-4111-8111-111111111111'],
    ['req-20261115-42', 'req-20261115-42'],
  ])('the request ID %s comes back unchanged, and the log has %s', async (given, logged) => {
    const { headers } = await service.call('GET', '/transactions', { headers: { 'X-Request-ID': given } });
    expect(headers.get('x-request-id')).toBe(given);
    expect(service.logs.join('')).toContain(`"requestId":"${logged}"`);
    expect(service.logs.join('').includes(given)).toBe(logged === given);
  });
});

/** A service whose searches take as long as a statement may, for those `isSlow`. */
const startSlow = (isSlow: (deps: WriteDeps) => boolean) => {
  const listTransactions: Handler<'listTransactions', WriteDeps> = async (input, deps) => {
    if (isSlow(deps)) await sql`select pg_sleep(60)`.execute(deps.db);
    return handlers.listTransactions(input, deps);
  };
  return startTestService({ handlers: { ...handlers, listTransactions } });
};

describe('slow searches, 40 at once', () => {
  const ofAccount = (own: TestService, token: string, account: string) =>
    own.call('GET', '/transactions', { token, headers: { 'X-Service-Merchant-Account-ID': account } });

  it('of one account leave connections to the others, and end', async () => {
    await using own = await startSlow(
      ({ selection }) => selection.kind === 'one' && selection.id === 'default',
    );
    const token = own.token('*.read');
    const stuck = Array.from({ length: 40 }, () => ofAccount(own, token, 'default'));
    const { usage } = own.service.database;
    await eventually(() => usage().waiting === 35, 'all of them hold a connection or wait for one');
    const others = await Promise.all(Array.from({ length: 10 }, () => ofAccount(own, token, 'marketplace')));
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await fetch(`${own.url}/readyz`)).status).toBe(200);
    expect(new Set((await Promise.all(stuck)).map(({ status }) => status))).toEqual(new Set([504]));
  });

  it.each([[['default', 'marketplace']], [['*']]])(
    'of one key pair in %j leave connections to the others',
    async (accounts) => {
      let slowPair = '';
      await using own = await startSlow(({ caller }) => caller.keyPairId === slowPair);
      const pair = await own.pair({ allow: ['*.read'], accounts: ['default', 'marketplace'] });
      slowPair = pair.id;
      await createAccount(own.service.database.db, { id: 'third', display_name: 'Third' });
      const token = pair.token('*.read');
      const stuck = Array.from({ length: 40 }, (_, n) =>
        ofAccount(own, token, accounts[n % accounts.length] ?? ''),
      );
      const { usage } = own.service.database;
      await eventually(() => usage().waiting === 34, 'all of them hold a connection or wait for one');
      expect(usage().inUse).toBe(6);
      expect((await ofAccount(own, own.token('*.read'), 'third')).status).toBe(200);
      await Promise.all(stuck);
    },
  );

  it('leaves the place of a request that has given up to the next, at once', async () => {
    await using own = await startTestService();
    const { connect } = own.service.database;
    const hold = (count: number, account: string) =>
      Promise.all(Array.from({ length: count }, () => connect({ owner: { keyPair: 'one', account } })));
    // All five places of an account, and with one more all six of the pair.
    const [inFirst, inSecond] = [await hold(5, 'first'), await hold(1, 'second')];
    const queued = connect({ owner: { keyPair: 'one', account: 'second' } });
    const deadline: Deadline = { left: 50 };
    await expect(connect({ owner: { keyPair: 'one', account: 'first' }, deadline })).rejects.toThrow();
    expect(deadline.waited).toBeGreaterThan(0);
    const next = connect({ owner: { keyPair: 'another', account: 'first' } });
    inFirst[0]?.release();
    for (const connection of [await next, await queued, ...inFirst.slice(1), ...inSecond])
      connection.release();
  });
});

describe('/readyz', () => {
  it('says yes while every other connection to the database is busy', async () => {
    await using own = await startTestService({ config: { webhookWorker: false } });
    const { database } = own.service;
    const pools = [database, database.background];
    // The jobs of the start use some of them, and would wait for the rest while this waits for theirs.
    const isIdle = () => pools.every((one) => one.usage().inUse === 0 && one.usage().waiting === 0);
    await eventually(isIdle, 'no job holds a connection');
    const held = await Promise.all(
      pools.flatMap((one) => Array.from({ length: one.usage().most }, () => one.connect())),
    );
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(`${own.url}/readyz`)));
    for (const client of held) client.release();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
