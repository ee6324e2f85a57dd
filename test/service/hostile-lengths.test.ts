// Every path that needs no token, and every operation without one, with a path, a query and headers that are as long as they
// may be: the answer is hardly larger than usual, and takes hardly more work.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request, type OutgoingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { startMock } from '../../mock/mock.ts';
import { badgePath } from '../../server/resources/card-schemes/rules.ts';
import { approvalPath } from '../../server/resources/payment-methods/rules.ts';
import { shareOf } from '../support/random.ts';
import { startTestService } from '../support/service.ts';

const folder = mkdtempSync(join(tmpdir(), 'payments-lengths-'));
const [siteDir, pagesDir] = [join(folder, 'site'), join(folder, 'pages')];

/** As many links as the real one has. */
const links = Array.from(
  { length: 50 },
  (_, index) => `<a href="/docs/guides/page-${index}.html">page</a>\n`,
);
const files: [file: string, content: string][] = [
  ['site/404.html', links.join('')],
  ['site/digest.txt', ''],
  ['site/index.html', '<title>Docs</title>'],
  ['site/index.html.br', 'br'],
  ['site/index.html.gz', 'gz'],
  ['site/guides/first.html', '<title>First</title>'],
  ['site/guides/first.md', '# First\n'],
  ['site/llms.txt', '[First](guides/first.md)\n'],
  ['site/openapi.json', '{"servers": []}'],
  ['site/openapi.yaml', 'servers:\n  - url: http://127.0.0.1:8080\npaths: {}\n'],
  ['pages/index.html', '<title>Landing</title>'],
  ['pages/console/index.html', '<title>Console</title>'],
  ['pages/assets/dashboard.0123456789ab.js', '// script'],
];

const card = '0190a1b2-0000-7000-8000-000000000000';
const paths = [
  ...['/', '/console', '/console/', '/assets/dashboard.0123456789ab.js', '/sandbox/feed', '/sandbox/token'],
  ...['/healthz', '/readyz', '/openapi.json', '/openapi.yaml', '/llms.txt', badgePath('visa')],
  ...['/docs', '/docs/', '/docs/here.js', '/docs/guides/', '/docs/guides/first', '/docs/guides/first.html'],
  ...['/docs/guides/first.md', '/docs/openapi.json', '/docs/openapi.yaml', '/docs/unicorn', '/unicorn'],
  ...[approvalPath(card), `/sandbox/events/${card}/replay`],
  ...new Set(Object.values(operations).map(({ path }) => path)),
];

/** One of each kind that looks at headers, or at the whole path. */
const kinds = new Set(['/', '/docs/', '/docs/openapi.yaml', approvalPath(card), '/transactions']);

/** The limit is 64 kB for the URL and all headers. */
const length = 60_000;
const filled = (part: string) => part.repeat(length / part.length);

const longPaths = [...['x', 'x/', '../', '.x', '%2F', '%00'].map(filled), `${filled('/')}x`];
const longQueries = [...['x', 'x=1&', '%41', 'x[]=&'].map(filled), `redirect_url=http://${filled("'")}`];
const longValues = [
  ...['x', 'x,', '*,', 'x;q=0.1,', '"x",', '4111.'].map(filled),
  `x${filled(' ')}x`,
  `Bearer ${filled('x.')}`,
  `bytes=${filled('0-1,')}`,
  `application/json;${filled('x=1;')}`,
];
/** What our code, Express or Node looks at. */
const headers = [
  ...[
    'accept',
    'accept-encoding',
    'access-control-request-method',
    'authorization',
    'content-type',
    'cookie',
  ],
  ...['early-data', 'expect', 'forwarded', 'host', 'idempotency-key', 'if-modified-since', 'if-none-match'],
  ...['origin', 'prefer', 'range', 'sec-fetch-site', 'traceparent', 'x-request-id'],
  ...['x-service-merchant-account-id'],
];

/** More than the answer without the hostile part. */
const mostMoreBytes = 20_000;
/** A usual one takes one or two milliseconds, client included, and what is quadratic in 60,000 characters more than a second. */
const mostMilliseconds = 40;
const tries = 20;

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

interface Sent {
  path: string;
  method?: string;
  headers?: OutgoingHttpHeaders;
}

/** Size of the answer with its headers, and the CPU time that both sides took. */
const measure = (url: string, { path, method = 'GET', headers: given = {} }: Sent) =>
  new Promise<{ status: number | undefined; bytes: number; milliseconds: number }>((done, failed) => {
    const begun = process.cpuUsage();
    const { hostname, port } = new URL(url);
    const accept = { accept: 'text/html', 'accept-encoding': 'br' };
    const sent = request(
      { agent, hostname, port, method, path, headers: { ...accept, ...given } },
      (response) => {
        let bytes = response.rawHeaders.join('').length;
        response.on('data', (chunk: Buffer) => (bytes += chunk.length));
        response.on('error', failed).on('end', () => {
          const { user, system } = process.cpuUsage(begun);
          done({ status: response.statusCode, bytes, milliseconds: (user + system) / 1000 });
        });
      },
    );
    sent.on('error', failed).end();
  });

/** The least of a few tries, because other work of this process counts, too. */
async function leastWork(url: string, sent: Sent) {
  const first = await measure(url, sent);
  let { milliseconds } = first;
  for (let nth = 1; nth < tries && milliseconds > mostMilliseconds; nth += 1)
    milliseconds = Math.min(milliseconds, (await measure(url, sent)).milliseconds);
  return { bytes: first.bytes, milliseconds };
}

const hostile = (path: string): [name: string, sent: Sent][] =>
  shareOf([
    ...longPaths.map((part): [string, Sent] => [`path ${part.slice(0, 12)}…`, { path: path + part }]),
    ...longQueries.map((part): [string, Sent] => [
      `query ${part.slice(0, 30)}…`,
      { path: `${path}?${part}` },
    ]),
    ...headers.flatMap((name) =>
      (kinds.has(path) ? longValues : []).map((value): [string, Sent] => [
        `${name}: ${value.slice(0, 20)}…`,
        { path, headers: { [name]: value } },
      ]),
    ),
  ]);

/** They accept a POST only, or are there only for a card that exists. */
const absentEverywhere = ['/sandbox/token', `/sandbox/events/${card}/replay`, '/docs/unicorn', '/unicorn'];
const servers = [
  {
    name: 'the sandbox',
    absent: [...absentEverywhere, approvalPath(card)],
    start: async () => {
      const { url, [Symbol.asyncDispose]: close } = await startTestService({ siteDir, pagesDir });
      return { url, close };
    },
  },
  {
    name: 'the mock',
    absent: absentEverywhere,
    start: () => startMock({ port: 0, siteDir, pagesDir }),
  },
];

beforeAll(() => {
  for (const [file, content] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  }
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe.each(servers)('$name', ({ start, absent }) => {
  let server: { url: string; close: () => PromiseLike<void> };
  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    agent.destroy();
    await server.close();
  });

  it('answers the paths that are listed here', async () => {
    const unknown: string[] = [];
    for (const path of paths) if ((await measure(server.url, { path })).status === 404) unknown.push(path);
    expect(unknown.sort()).toEqual([...absent].sort());
  });

  it.each(paths)('%s answers as usual to whatever is too long', async (path) => {
    const plain = await measure(server.url, { path });
    const dear: string[] = [];
    for (const [name, sent] of hostile(path)) {
      const { bytes, milliseconds } = await leastWork(server.url, sent);
      if (bytes > plain.bytes + mostMoreBytes) dear.push(`${name} ${bytes} bytes`);
      if (milliseconds > mostMilliseconds) dear.push(`${name} ${Math.round(milliseconds)} ms`);
    }
    expect(dear).toEqual([]);
  });
});
