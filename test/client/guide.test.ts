// The code of the guide for frontend teams, taken from it as it stands and run; the examples of the client's own comments.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type BuildOptions } from 'esbuild';
import { Webhook } from 'standardwebhooks';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, keepDiary, launch } from '../support/browser.ts';
import { run } from '../support/run.ts';
import { startTestService, type TestService } from '../support/service.ts';

const root = join(import.meta.dirname, '..', '..');
const entries = {
  'payments-service/client/node': join(root, 'client/node.ts'),
  'payments-service/client': join(root, 'client/index.ts'),
};
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const blocks = (text: string) => [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code);

const section = read('docs/guides/frontend-team.md').split('## Typed client')[1]?.split('\n## ')[0] ?? '';
const [browserCode = '', serverCode = '', webhookCode = ''] = blocks(section);
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
  writeFileSync(file, code.replaceAll('http://127.0.0.1:8080', service.url));
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

describe.skipIf(!chromiumPath)('in a real browser', () => {
  it('the page lists transactions', async () => {
    const script = readFileSync(await bundle('page', browserCode, { platform: 'browser' }), 'utf8');
    let token = service.token('transactions.read');
    const html =
      '<!doctype html><link rel="icon" href="data:,"><ul id="transactions"></ul><script type="module" src="page.js"></script>';
    const site = createServer(({ url }, response) => {
      if (url === '/token') response.end(token);
      else if (url === '/page.js') response.setHeader('Content-Type', 'text/javascript').end(script);
      else response.setHeader('Content-Type', 'text/html').end(html);
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const browser = await launch();
    try {
      const page = await browser.newPage();
      const diary = await keepDiary(page, ({ hostname }) => hostname === '127.0.0.1');
      const address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
      await page.goto(address, { waitUntil: 'networkidle' });
      const lines = await page.locator('#transactions li').allTextContents();
      expect(lines.length).toBeGreaterThan(20);
      expect(lines.filter((line) => !/^\d+\.\d\d USD [a-z_]+$/.test(line))).toEqual([]);
      expect(diary).toEqual({ outside: [], complaints: [] });
      token = service.token('embed');
      await page.goto(address, { waitUntil: 'networkidle' });
      expect(await page.locator('#transactions').textContent()).toMatch(/^forbidden, request [\w-]+$/);
    } finally {
      await browser.close();
      site.close();
    }
  });
});

it('the server stores a card and meets a duplicate', async () => {
  const file = await bundle('server', serverCode, { platform: 'node', packages: 'external' });
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
