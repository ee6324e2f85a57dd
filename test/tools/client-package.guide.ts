/** The code of the guide for frontend teams: compiled, built by Vite and run unchanged; also the examples in the client. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build as bundle } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { build as viteBuild } from 'vite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createPaymentsClient, type PaymentsClient, type PaymentsError } from '../../client/index.ts';
import { startMock, type Mock } from '../../mock/mock.ts';
import { chromiumPath, keepDiary, launch, withoutChromium } from '../support/browser.ts';
import type { PackedClient } from '../support/packed-client.ts';
import { root, run } from '../support/processes.ts';
import type { TestService } from '../support/service.ts';
import { faultsIn } from './client-package.compile.ts';

interface Given {
  packed: () => PackedClient;
  service: () => TestService;
  prepare: () => Promise<void>;
}

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const guide = read('docs/guides/frontend-team.md');
const webhookGuide = read('docs/guides/webhooks.md');

/** The files of the guide: a name, a colon, and a block of code. */
const files = new Map(
  [...guide.matchAll(/`([\w./-]+)`:\n\n```\w+\n(.*?)```/gs)].map(([, name = '', code = '']) => [name, code]),
);

const codeIn = (text: string) => [...text.matchAll(/^```ts\n(.*?)```/gms)].map(([, code = '']) => code);

const examples = ['client/README.md', 'client/index.ts', 'client/server.ts'].flatMap((file) =>
  codeIn(read(file).replace(/^ \* ?/gm, '')),
);

/** Mistakes that the compiler must find for whoever uses the package. */
const mistakes = {
  'filter.ts': `client.paginate('/transactions', { params: { query: { curency: [''] } } })`,
  'value.ts': `client.GET('/transactions', { params: { query: { status: ['capture_suceeded'] } } })`,
  'path.ts': `client.GET('/unicorns')`,
  'field.ts': `client.paginate('/transactions').next().then(({ value }) => value?.total)`,
  'error.ts': `client.GET('/transactions').then(({ error }) => error?.statusCode)`,
};
const dollars = /^\$[\d,]+\.\d\d [a-z_]+$/;
const mistake = (code: string) => `import { createPaymentsClient } from 'payments-service-client';
  const client = createPaymentsClient({ baseUrl: '', token: 'x', fetch });
  export const wrong = () => ${code};`;

export function describeGuide({ packed, service, prepare }: Given): void {
  const write = (name: string, code: string) => {
    const file = join(packed().consumer, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, code);
    return file;
  };

  /** Loads a file of the guide, bundled with the package. */
  const load = async <Module>(name: string): Promise<Module> => {
    const outfile = join(packed().consumer, `${name}.mjs`);
    const entryPoints = [join(packed().consumer, `src/${name}.ts`)];
    await bundle({ entryPoints, outfile, bundle: true, format: 'esm', logLevel: 'error' });
    return (await import(pathToFileURL(outfile).href)) as Module;
  };

  describe('the guide', () => {
    beforeAll(async () => {
      await prepare();
      for (const [name, code] of files) write(name, code);
    });

    it('has these files', () => {
      expect([...files.keys()]).toEqual([
        ...['index.html', 'src/money.ts', 'src/main.ts', 'tsconfig.json', 'backend.mjs', 'src/token.ts'],
        ...['src/transactions.tsx', 'react.html', 'src/explain.ts', 'src/card-form.tsx', 'src/gift-cards.ts'],
        'server.mjs',
      ]);
    });

    it('installs the Vite that this test uses', () => {
      const { devDependencies, overrides } = JSON.parse(read('package.json')) as Record<
        'devDependencies' | 'overrides',
        Record<string, string>
      >;
      expect(guide).toContain(`vite@${devDependencies.vite} rolldown@${overrides.rolldown}`);
    });

    it('compiles as its tsconfig.json says, and mistakes do not', async () => {
      const { compilerOptions: options } = JSON.parse(files.get('tsconfig.json') ?? '') as {
        compilerOptions: { exactOptionalPropertyTypes?: boolean };
      };
      const sources = [...files.keys()].filter((name) => /^src\/.*\.tsx?$/.test(name));
      const wrong = Object.entries(mistakes).map(([name, code]) => write(`src/${name}`, mistake(code)));
      const paths = [...sources.map((name) => join(packed().consumer, name)), ...wrong];
      // Without this flag an optional property may be undefined as well; most projects do not have it.
      expect(options.exactOptionalPropertyTypes).toBeUndefined();
      const faults = [
        expect.stringMatching(/^filter\.ts: .*curency/),
        expect.stringMatching(/^value\.ts: .*capture_suceeded/),
        expect.stringMatching(/^path\.ts: .*unicorns.*"\/transactions"/),
        expect.stringMatching(/^field\.ts: .*total/),
        expect.stringMatching(/^error\.ts: .*statusCode/),
      ];
      expect(await faultsIn(paths, { ...options, exactOptionalPropertyTypes: true })).toEqual(faults);
      expect(await faultsIn(paths, { ...options, skipLibCheck: true }, 'typescript')).toEqual(faults);
    });

    it('compiles on a server, as do the examples in the README, the comments and the guide to webhooks', async () => {
      const codes = [...examples, ...codeIn(webhookGuide)];
      expect(codes).toHaveLength(5);
      const server = `import type { Schemas } from 'payments-service-client/server';
        export const name = (scheme: Schemas['CardSchemeDefinition']): string => scheme.short_name;
        ${files.get('server.mjs')?.replace("method: 'card',", "method: 'card' as const,") ?? ''}`;
      const paths = [server, ...codes].map((code, index) =>
        write(`examples/${index}.ts`, `${code}\nexport {};`),
      );
      expect(await faultsIn(paths, { lib: ['es2023'], types: ['node'] })).toEqual([]);
    });

    it('the server stores a card and meets a duplicate', async () => {
      const folder = join(packed().consumer, 'payments-service');
      symlinkSync(service().config.dataDir, join(mkdir(folder), '.data'));
      const code = files.get('server.mjs') ?? '';
      const own = code
        .replace('http://127.0.0.1:8080', service().url)
        .replace('../payments-service/', './payments-service/');
      const { output, status } = await run(process.execPath, [write('server.mjs', own)], {
        cwd: packed().consumer,
      });
      expect(output).toMatch(/^succeeded\nPaymentsError: 409 duplicate_record: /);
      expect(status).toBe(0);
    });

    it('the backend signs tokens that the page shares, and renews once for all requests', async () => {
      const folder = join(packed().consumer, 'backend');
      symlinkSync(service().config.dataDir, join(mkdir(folder), '.data'));
      const code = (files.get('backend.mjs') ?? '')
        .replace('../payments-service/.data', join(folder, '.data'))
        .replace('createServer(async', 'export const server = createServer(async')
        .replace('3000', '0');
      const { server } = (await import(pathToFileURL(write('own-backend.mjs', code)).href)) as {
        server: Server;
      };
      if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
      const { token } = await load<{ token: (refused?: string) => Promise<string> }>('token');
      const real = fetch;
      const answers = [
        () => Promise.resolve(new Response('', { status: 401 })),
        () => Promise.resolve(new Response('old\n')),
        () => real(`http://127.0.0.1:${(server.address() as AddressInfo).port}/token`),
      ];
      const asked = vi.fn(() => answers.shift()?.() ?? Promise.reject(new Error('one call too many')));
      vi.stubGlobal('fetch', asked);
      try {
        await expect(token()).rejects.toThrow('Please log in again.');
        expect(await token()).toBe('old');
        const [one, two] = await Promise.all([token('old'), token('old')]);
        expect(one).toBe(two);
        const client = createPaymentsClient({ baseUrl: service().url, token, fetch: real });
        expect((await client.GET('/transactions')).response.status).toBe(200);
        expect(asked).toHaveBeenCalledTimes(3);
      } finally {
        vi.unstubAllGlobals();
        await new Promise((resolve) => server.close(resolve));
      }
    });

    it('formats money with the decimals of ISO 4217', async () => {
      const { money } = await load<{ money: (amount: number, currency: string) => string }>('money');
      const shown = ['USD', 'JPY', 'KWD', 'HUF', 'COP', 'IQD'].map((currency) => money(123456, currency));
      expect(shown.map((text) => text.replaceAll(/[^\d.,]/g, ''))).toEqual([
        ...['1,234.56', '123,456', '123.456', '1,234.56', '1,234.56', '123.456'],
      ]);
      expect(shown[0]).toBe('$1,234.56');
    });

    it('checks gift cards, at the mock and at the service', async () => {
      type Check = (client: PaymentsClient, items: { number: string; pin: string }[]) => Promise<string[]>;
      const { checkBalances } = await load<{ checkBalances: Check }>('gift-cards');
      const [first, second] = [...guide.matchAll(/number: '(\d+)', pin: '(9001|1234)' \}[,\]]/g)];
      const cards = [first, second].map((found) => ({ number: found?.[1] ?? '', pin: found?.[2] ?? '' }));
      const mock = await startMock({ port: 0 });
      try {
        for (const baseUrl of [mock.url, service().url]) {
          const client = createPaymentsClient({ baseUrl, token: service().token('embed') });
          expect(await checkBalances(client, cards)).toEqual([
            'Card ending in 1234: $50.00',
            'Card 2: check number and PIN',
          ]);
        }
      } finally {
        await mock.close();
      }
    });

    it('explains errors', async () => {
      const { explain } = await load<{ explain: (error: PaymentsError) => string }>('explain');
      const told = (code: string) => explain({ code, requestId: 'r' } as unknown as PaymentsError);
      expect(told('unauthorized')).toBe('Please log in again.');
      expect(told('new')).toBe('Something went wrong (new, request r).');
    });

    describe.skipIf(!chromiumPath)(`in a real browser${chromiumPath ? '' : ` (${withoutChromium})`}`, () => {
      let mock: Mock;
      let site: Server;
      let browser: Browser;
      let token = '';
      let baseUrl = '';

      beforeAll(async () => {
        mock = await startMock({ port: 0 });
        const { consumer } = packed();
        const card = (files.get('react.html') ?? '').replace('/src/transactions.tsx', '/src/card-form.tsx');
        write('card.html', card);
        const input = ['index.html', 'react.html', 'card.html'].map((name) => join(consumer, name));
        await viteBuild({ root: consumer, logLevel: 'error', build: { rolldownOptions: { input } } });
        site = createServer(({ url = '' }, response) => {
          // With a newline at the end, as a shell writes it.
          if (url === '/token') return void response.end(`${token}\n`);
          const type = extname(url) === '.js' ? 'text/javascript' : 'text/html';
          const text = readFileSync(join(consumer, 'dist', url), 'utf8');
          response.setHeader('Content-Type', type).end(text.replace('http://127.0.0.1:4010', baseUrl));
        });
        await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
        browser = await launch();
      });
      afterAll(async () => {
        await browser.close();
        site.close();
        await mock.close();
      });

      /** Loads a page of the guide, with this base URL instead of the guide's. */
      async function open(file: string, address: string) {
        baseUrl = address;
        const page = await browser.newPage();
        const diary = await keepDiary(page, ({ hostname }) => hostname === '127.0.0.1');
        const calls: string[] = [];
        page.on('request', (request) => calls.push(new URL(request.url()).origin));
        const { port } = site.address() as AddressInfo;
        await page.goto(`http://127.0.0.1:${port}/${file}`, { waitUntil: 'networkidle' });
        const others = () => new Set(calls.filter((origin) => origin !== `http://127.0.0.1:${port}`));
        return { page, diary, others, lines: () => page.locator('li').allTextContents() };
      }

      it('the page lists transactions of the mock and then, with another address, of the service', async () => {
        const counts = [];
        // The mock accepts any text as a token.
        for (const [address, accepted] of [
          [mock.url, 'anything'],
          [service().url, service().token('transactions.read')],
        ] as const) {
          token = accepted;
          const { page, diary, others, lines } = await open('index.html', address);
          const found = await lines();
          expect(found.filter((line) => !dollars.test(line))).toEqual([]);
          expect(diary).toEqual({ outside: [], complaints: [] });
          expect(others()).toEqual(new Set([address]));
          counts.push(found.length);
          await page.close();
        }
        // The mock has what the contract shows on one page; the service more than a page.
        expect(counts[0]).toBeGreaterThan(2);
        expect(counts[1]).toBeGreaterThan(20);
      });

      it('a token with too little is told so by both', async () => {
        token = service().token('embed');
        for (const address of [mock.url, service().url]) {
          const { page } = await open('index.html', address);
          expect(await page.locator('#transactions').textContent()).toMatch(/^forbidden, request [\w-]+$/);
          await page.close();
        }
      });

      it('the React list shows, aborts when its filter changes, and tells what went wrong', async () => {
        token = service().token('transactions.read');
        const { page, diary, lines } = await open('react.html', service().url);
        expect(diary).toEqual({ outside: [], complaints: [] });
        expect((await lines()).length).toBeGreaterThan(2);
        expect((await lines()).filter((line) => !dollars.test(line))).toEqual([]);

        const isHeld = ({ searchParams }: URL) => searchParams.get('currency') === 'EUR';
        const aborted = page.waitForEvent('requestfailed', (request) => isHeld(new URL(request.url())));
        const held = page.waitForRequest((request) => isHeld(new URL(request.url())));
        await page.route(isHeld, () => undefined);
        await page.locator('select').selectOption('EUR');
        await held;
        expect(await lines()).toEqual([]);
        await page.locator('select').selectOption('USD');
        expect((await aborted).failure()?.errorText).toBe('net::ERR_ABORTED');
        await page.locator('li').filter({ hasText: '$' }).first().waitFor();

        await page.unroute(isHeld);
        await page.locator('select').selectOption('EUR');
        await page.locator('li').filter({ hasText: '€' }).first().waitFor();
        expect((await lines()).filter((line) => !line.startsWith('€'))).toEqual([]);
        token = service().token('embed');
        await page.locator('select').selectOption('USD');
        expect(await page.getByRole('alert').textContent()).toMatch(/^403 forbidden: .*\(request [\w-]+\)$/);
        await page.close();
      });

      it('the React list loads more, and again after a failure', async () => {
        token = service().token('transactions.read');
        const { page, lines } = await open('react.html', service().url);
        const button = page.getByRole('button', { name: 'Load more' });
        const alert = page.getByRole('alert');
        const first = await lines();
        expect(first).toHaveLength(20);

        token = '<!doctype html>';
        await button.click();
        await alert.waitFor();
        expect(await alert.textContent()).toContain('`token` is not an access token');
        expect(await lines()).toEqual(first);

        token = service().token('transactions.read');
        await page.getByRole('button', { name: 'Try again' }).click();
        await page.locator('li').nth(20).waitFor();
        expect((await lines()).slice(0, 20)).toEqual(first);
        expect(await alert.count()).toBe(0);

        await page.close();

        token = '<!doctype html>';
        const { page: another } = await open('react.html', service().url);
        expect(await another.getByRole('alert').textContent()).toContain('It is a page');
        token = service().token('transactions.read');
        await another.getByRole('button', { name: 'Try again' }).click();
        await another.locator('li').nth(19).waitFor();
        await another.close();
      });

      it('the card form shows faults at their fields, and sends the buyer to approve, with the mock and the service', async () => {
        for (const address of [mock.url, service().url]) {
          token = service().token('payment-methods.write');
          const { page, diary } = await open('card.html', address);
          const { status, store } = useForm(page);
          await store('4111 1111', '12/39', '12');
          await page.getByRole('alert').first().waitFor();
          expect(await page.getByRole('alert').allTextContents()).toEqual([
            'Enter 13 to 19 digits.',
            'Enter 3 or 4 digits.',
          ]);
          expect(await status.textContent()).toBe('');

          await store('4111 1111 1111 1111', '12/39', '123');
          await status.getByText('The card ending in 1111 is stored.').waitFor();
          expect(await page.getByRole('alert').count()).toBe(0);
          await store('4111111111111111', '12/19', '');
          await status.getByText('The card was not accepted.').waitFor();
          await store('4012888888881881', '12/39', '');
          await status.getByText('The card is being checked.').waitFor();
          token = service().token('embed');
          await store('5105105105105100', '12/39', '');
          await status.getByText('Something went wrong (forbidden').waitFor();
          // A browser prints every answer with an error on its console: here the 400 and the 403.
          expect(diary.outside).toEqual([]);
          expect(diary.complaints).toHaveLength(2);

          token = service().token('payment-methods.write');
          const approval = page.waitForRequest(
            (request) => request.isNavigationRequest() && request.url().startsWith(address),
          );
          await page.getByRole('button').click();
          await approval;
          await page.getByRole('heading', { name: /approve/i }).waitFor();
          await page.close();
        }
      });

      it('the card form keeps its key when the answer is lost, until the form changes', async () => {
        token = service().token('payment-methods.write');
        const { page } = await open('card.html', service().url);
        const { status, store } = useForm(page);
        const keys: (string | undefined)[] = [];
        page.on('request', (request) => {
          if (request.method() === 'POST') keys.push(request.headers()['idempotency-key']);
        });
        const isStore = ({ pathname }: URL) => pathname === '/payment-methods';
        // Carried out, but the browser does not learn of it.
        await page.route(isStore, async (route) => {
          if (route.request().method() === 'POST') await route.fetch();
          await (route.request().method() === 'POST' ? route.abort() : route.continue());
        });
        await store('4111111111111111', '12/39', '');
        await status.getByText('There is no connection.').waitFor();
        await page.unroute(isStore);
        const answer = page.waitForResponse((one) => one.request().method() === 'POST');
        await page.getByRole('button').click();
        expect((await answer).headers()['idempotency-replayed']).toBe('true');
        await status.getByText('The card ending in 1111 is stored.').waitFor();
        await store('5555555555554444', '12/39', '');
        await status.getByText('The card ending in 4444 is stored.').waitFor();
        // The client itself tried three times.
        const [first, last] = [keys[0], keys[4]];
        expect(keys).toEqual([first, first, first, first, last]);
        for (const key of [first, last]) expect(key).toMatch(/^[\w-]{36}$/);
        expect(last).not.toBe(first);
        await page.close();
      });
    });
  });
}

/** The form that stores cards. */
function useForm(page: Page) {
  const store = async (number: string, date: string, code: string) => {
    await page.getByLabel('Card number').fill(number);
    await page.getByLabel('Expires').fill(date);
    await page.getByLabel('Security code').fill(code);
    await page.getByRole('button').click();
  };
  return { status: page.getByRole('status'), store };
}

function mkdir(folder: string): string {
  mkdirSync(folder, { recursive: true });
  return folder;
}
