/**
 * The code of the guide for frontend teams: compiled, built by Vite and run unchanged; also the examples in the client. What needs
 * React and MSW: nightly/react-app.test.ts.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build as bundle } from 'esbuild';
import { build as viteBuild } from 'vite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createPaymentsClient, type PaymentsClient, type PaymentsError } from '../../client/index.ts';
import { startMock, type Mock } from '../../mock/mock.ts';
import { chromiumPath, withoutChromium } from '../support/browser.ts';
import type { PackedClient } from '../support/packed-client.ts';
import { root, run } from '../support/processes.ts';
import type { TestService } from '../support/service.ts';
import { dollars, files, guide, openShop, type Shop } from '../support/shop.ts';
import { faultsIn } from './client-package.compile.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const webhookGuide = read('docs/guides/webhooks.md');

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
const mistake = (code: string) => `import { createPaymentsClient } from 'payments-service-client';
  const client = createPaymentsClient({ baseUrl: '', token: 'x', fetch });
  export const wrong = () => ${code};`;

export function describeGuide(packed: () => PackedClient, service: () => TestService): void {
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
      for (const [name, code] of files) write(name, code);
      // The packages that the guide names besides: the mock as it is packed, the others from the project's own node_modules.
      const at = (name: string) => join(packed().consumer, 'node_modules', name);
      for (const [name, from] of Object.entries({ vite: 'vite', playwright: 'playwright-core' }))
        symlinkSync(join(root, 'node_modules', from), at(name));
      const tar = [
        '-xzf',
        join(root, 'site/mock.tgz'),
        '--strip-components=1',
        '-C',
        mkdir(at('payments-mock')),
      ];
      expect((await run('tar', tar)).status).toBe(0);
    });

    it('compiles as its tsconfig.json says, and mistakes do not', async () => {
      const { compilerOptions: options } = JSON.parse(files.get('tsconfig.json') ?? '') as {
        compilerOptions: { exactOptionalPropertyTypes?: boolean };
      };
      const sources = [...files.keys()].filter((name) => /^src\/[\w-]+\.ts$/.test(name));
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
        ${files.get('server.mjs') ?? ''}`;
      const paths = [server, ...codes].map((code, index) =>
        write(`examples/${index}.ts`, `${code}\nexport {};`),
      );
      const typeRoots = [join(root, 'node_modules/@types')];
      expect(await faultsIn(paths, { lib: ['es2023'], types: ['node'], typeRoots })).toEqual([]);
    });

    it('the server stores a card', async () => {
      const folder = join(packed().consumer, 'payments-service');
      symlinkSync(service().config.dataDir, join(mkdir(folder), '.data'));
      const code = files.get('server.mjs') ?? '';
      const own = code
        .replace('http://127.0.0.1:8080', service().url)
        .replace('../payments-service/', './payments-service/');
      const { output, status } = await run(process.execPath, [write('server.mjs', own)], {
        cwd: packed().consumer,
      });
      expect([output, status]).toEqual(['succeeded\n', 0]);
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
      let shop: Shop;

      beforeAll(async () => {
        mock = await startMock({ port: 0 });
        const { consumer } = packed();
        await viteBuild({ root: consumer, logLevel: 'error' });
        shop = await openShop(join(consumer, 'dist'));
      });
      afterAll(async () => {
        await shop[Symbol.asyncDispose]();
        await mock.close();
      });

      it('the page lists transactions of the mock and then, with another address, of the service', async () => {
        // The mock accepts any text as a token, and has what the contract shows on one page; the service has more than a page.
        for (const [address, accepted, least] of [
          [mock.url, 'anything', 3],
          [service().url, service().token('transactions.read'), 21],
        ] as const) {
          const { page, diary, others, lines } = await shop.open('index.html', address, accepted);
          await page
            .locator('li')
            .nth(least - 1)
            .waitFor();
          expect((await lines()).filter((line) => !dollars.test(line))).toEqual([]);
          expect(diary).toEqual({ outside: [], complaints: [] });
          expect(others()).toEqual(new Set([address]));
          await page.close();
        }
      });

      it('a backend that gives no token is told, too', async () => {
        const { page } = await shop.open('index.html', mock.url, '');
        await page.getByText('Please log in again.').waitFor();
        await page.close();
      });

      it('a token with too little is told so by both', async () => {
        for (const address of [mock.url, service().url]) {
          const { page } = await shop.open('index.html', address, service().token('embed'));
          await page.getByText('You may not see transactions.').waitFor();
          await page.close();
        }
      });

      // Last, because it builds the page anew, for its own mock.
      it('its tests show every state of the page', async () => {
        write('public/token', 'anything\n');
        const options = { cwd: packed().consumer, env: { CHROMIUM_PATH: chromiumPath ?? '' } };
        const { status, output } = await run(process.execPath, ['--test', 'states.mjs'], options);
        expect([status, output]).toEqual([0, expect.stringMatching(/pass 5\n/)]);
      });
    });
  });
}

function mkdir(folder: string): string {
  mkdirSync(folder, { recursive: true });
  return folder;
}
