// Runs the code of the guide for frontend teams unchanged, and compiles the examples in the client's comments.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type BuildOptions } from 'esbuild';
import type { Browser } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMock, type Mock } from '../../mock/mock.ts';
import { chromiumPath, keepDiary, launch, withoutChromium } from '../support/browser.ts';
import { run } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

const root = join(import.meta.dirname, '..', '..');
const entries = {
  'payments-service/client/node': join(root, 'client/node.ts'),
  'payments-service/client': join(root, 'client/index.ts'),
};
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const blocks = (text: string, language = 'ts') =>
  [...text.matchAll(/^```(\w+)\n(.*?)```/gms)].flatMap(([, name, code = '']) =>
    name === language ? [code] : [],
  );

const guide = read('docs/guides/frontend-team.md');
const [browserCode = '', serverCode = '', webhookCode = ''] = blocks(guide);
const [html = ''] = blocks(guide, 'html');
const comments = ['client/index.ts', 'client/node.ts'].flatMap((file) =>
  blocks(read(file).replace(/^ \* ?/gm, '')),
);

const scratch = mkdtempSync(join(tmpdir(), 'payments-guide-'));
let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  symlinkSync(join(root, 'node_modules'), join(scratch, 'node_modules'));
  symlinkSync(service.config.dataDir, join(scratch, '.data'));
  mkdirSync(join(scratch, 'src'));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true, force: true });
});

const bundle = async (name: string, code: string, options: BuildOptions) => {
  const file = join(scratch, 'src', `${name}.ts`);
  writeFileSync(file, code);
  const outfile = join(scratch, `${name}.mjs`);
  await build({
    entryPoints: [file],
    outfile,
    bundle: true,
    format: 'esm',
    target: 'es2023',
    alias: entries,
    ...options,
  });
  return outfile;
};

it('every piece compiles, those in comments too', () => {
  const pieces = [browserCode, serverCode, webhookCode, ...comments];
  expect(pieces).toHaveLength(5);
  const files = pieces.map((code, index) => {
    const file = join(scratch, 'src', `piece-${index}.ts`);
    writeFileSync(file, `${code}\nexport {};`);
    return file;
  });
  const program = ts.createProgram(files, {
    ...{ strict: true, noEmit: true, allowImportingTsExtensions: true, target: ts.ScriptTarget.ES2023 },
    ...{ module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, types: ['node'] },
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.asynciterable.d.ts'],
    typeRoots: [join(root, 'node_modules/@types')],
    paths: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, [file]])),
  });
  const faults = files.flatMap((file) =>
    program
      .getSemanticDiagnostics(program.getSourceFile(file))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')),
  );
  expect(faults).toEqual([]);
});

describe.skipIf(!chromiumPath)(`in a real browser${chromiumPath ? '' : ` (${withoutChromium})`}`, () => {
  let mock: Mock;
  let site: Server;
  let browser: Browser;
  let token = '';
  let script = '';

  beforeAll(async () => {
    mock = await startMock({ port: 0 });
    site = createServer(({ url }, response) => {
      // With a newline at the end, as a shell writes it.
      if (url === '/token') response.end(`${token}\n`);
      else if (url === '/page.js') response.setHeader('Content-Type', 'text/javascript').end(script);
      else response.setHeader('Content-Type', 'text/html').end(html);
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    site.close();
    await mock.close();
  });

  /** Loads the page of the guide, with this base URL instead of the guide's. */
  async function open(address: string) {
    const own = "baseUrl: 'http://127.0.0.1:4010'";
    expect(browserCode.split(own)).toHaveLength(2);
    const code = browserCode.replace(own, `baseUrl: '${address}'`);
    script = readFileSync(await bundle('page', code, { platform: 'browser' }), 'utf8');
    const page = await browser.newPage();
    const diary = await keepDiary(page, ({ hostname }) => hostname === '127.0.0.1');
    const calls: string[] = [];
    page.on('request', (request) => calls.push(new URL(request.url()).origin));
    const { port } = site.address() as AddressInfo;
    await page.goto(`http://127.0.0.1:${port}/`, { waitUntil: 'networkidle' });
    const list = page.locator('#transactions');
    const found = {
      lines: await list.locator('li').allTextContents(),
      text: await list.textContent(),
      diary,
      calls: calls.filter((origin) => origin !== `http://127.0.0.1:${port}`),
    };
    await page.close();
    return found;
  }

  it('the page lists transactions of the mock and then, with another address, of the service', async () => {
    token = service.token('transactions.read');
    const counts = [];
    for (const address of [mock.url, service.url]) {
      const { lines, diary, calls } = await open(address);
      expect(lines.filter((line) => !/^\d+\.\d\d USD [a-z_]+$/.test(line))).toEqual([]);
      expect(diary).toEqual({ outside: [], complaints: [] });
      expect(new Set(calls)).toEqual(new Set([address]));
      counts.push(lines.length);
    }
    // The mock has what the contract shows on one page; the service more than a page.
    expect(counts[0]).toBeGreaterThan(2);
    expect(counts[1]).toBeGreaterThan(20);
  });

  it('any text is a token for the mock', async () => {
    token = 'anything';
    expect((await open(mock.url)).lines.length).toBeGreaterThan(2);
  });

  it('a token with too little is told so by both', async () => {
    token = service.token('embed');
    for (const address of [mock.url, service.url])
      expect((await open(address)).text).toMatch(/^forbidden, request [\w-]+$/);
  });
});

it('the server stores a card and meets a duplicate', async () => {
  const code = serverCode.replace('http://127.0.0.1:8080', service.url);
  const file = await bundle('server', code, { platform: 'node', packages: 'external' });
  const { status, output } = await run(process.execPath, [file], { cwd: scratch });
  expect(output).toMatch(/^succeeded\nPaymentsError: 409 duplicate_record: /);
  expect(status).toBe(0);
});

it('the receiver believes what is signed and nothing else', async () => {
  const file = await bundle('webhook', webhookCode, { platform: 'node', packages: 'external' });
  const { receive } = (await import(pathToFileURL(file).href)) as {
    receive: (request: Request, secret: string) => Promise<Response>;
  };
  const secret = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;
  const body = JSON.stringify({ type: 'event', name: 'payment-method.created', target: {} });
  const now = new Date();
  const request = (signed: string) =>
    new Request('http://shop.test/', {
      method: 'POST',
      body,
      headers: {
        'webhook-id': 'a',
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign('a', now, signed),
      },
    });
  expect((await receive(request(body), secret)).status).toBe(204);
  expect((await receive(request(`${body} `), secret)).status).toBe(400);
});
