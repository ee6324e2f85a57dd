// The package that consumers install. It is built once, for this file and for client-package.guide.ts, from a copy of the project whose
// contract is ahead of the server.
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { publint } from 'publint';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractVersion } from '../../generated/operations.ts';
import { hovers } from '../support/hover.ts';
import { installPackedClient, type PackedClient } from '../support/packed-client.ts';
import { run } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { faultsIn } from './client-package.compile.ts';
import { describeGuide } from './client-package.guide.ts';

let packed: PackedClient;
let service: TestService;

beforeAll(async () => {
  packed = await installPackedClient();
  service = await startTestService({ siteDir: packed.siteDir });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await packed[Symbol.asyncDispose]();
});

const succeed = async (command: string, args: string[]): Promise<string> => {
  const { status, output } = await run(command, args, { cwd: packed.consumer });
  expect(status, output).toBe(0);
  return output;
};

describe('the package', () => {
  it('was built although the server does not compile, and has the field that the server lacks', async () => {
    const server = await faultsIn([join(packed.tree, 'server/resources/card-schemes/rules.ts')], {
      allowImportingTsExtensions: true,
      lib: ['es2023'],
      types: [],
    });
    expect(server).toEqual([expect.stringMatching(/^rules\.ts: Property 'short_name' is missing/)]);
    const types = await readFile(join(packed.folder, 'generated/types.d.ts'), 'utf8');
    expect(types).toContain('short_name: string;');
  });

  it('is offered by the service, to everyone', async () => {
    const response = await fetch(`${service.url}/client.tgz`);
    expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'application/gzip']);
    expect(Buffer.from(await response.arrayBuffer()).equals(await readFile(packed.tarball))).toBe(true);
  });

  it('has the version of the contract', async () => {
    const manifest = await readFile(join(packed.folder, 'package.json'), 'utf8');
    expect(JSON.parse(manifest)).toMatchObject({ name: 'payments-service-client', version: contractVersion });
  });

  it('holds the client and its types, and nothing else', () => {
    const expected =
      /^package\/(package\.json|README\.md|LICENSE|client\/[\w-]+\.(js|js\.map|d\.ts)|generated\/\w+\.(js|js\.map|d\.ts))$/;
    expect(packed.files.filter((path) => !expected.test(path))).toEqual([]);
    for (const file of ['client/index.js', 'client/server.d.ts', 'generated/operations.js'])
      expect(packed.files).toContain(`package/${file}`);
  });

  it('has source maps with their sources, which seem to be in the package', async () => {
    const maps = packed.files.filter((path) => path.endsWith('.map'));
    expect(maps.length).toBeGreaterThan(5);
    for (const map of maps) {
      const text = await readFile(join(packed.folder, map.replace('package/', '')), 'utf8');
      const found = JSON.parse(text) as { sourceRoot: string; sources: string[]; sourcesContent: string[] };
      const places = found.sources.map((source) => join('/', dirname(map), found.sourceRoot, source));
      expect(places).toEqual([`/${map.replace(/\.js\.map$/, '.ts')}`]);
      expect(found.sourcesContent).toHaveLength(1);
    }
  });

  it('brings three packages and less than 700 kB', async () => {
    const modules = join(packed.consumer, 'node_modules');
    const found = await readdir(modules, { recursive: true, withFileTypes: true });
    const manifests = found.filter(({ name }) => name === 'package.json');
    expect(manifests.map(({ parentPath }) => parentPath.slice(modules.length + 1)).sort()).toEqual([
      'openapi-fetch',
      'openapi-typescript-helpers',
      'payments-service-client',
    ]);
    const files = found.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(700_000);
  });

  it('has its licence, and takes any compatible openapi-fetch', async () => {
    const manifest = await readFile(join(packed.folder, 'package.json'), 'utf8');
    expect((JSON.parse(manifest) as { dependencies: object }).dependencies).toEqual({
      'openapi-fetch': expect.stringMatching(/^\^\d/) as string,
    });
    expect(packed.files).toContain('package/LICENSE');
  });

  it('satisfies publint', async () => {
    const { messages } = await publint({ pkgDir: packed.folder, strict: true });
    expect(messages).toEqual([]);
  });

  // Measured: 6.3 kB and 9.3 kB. What grows it beyond that should be worth it to every page.
  it.each([
    [
      'a page that calls and pages',
      `export { createPaymentsClient, unwrap } from 'payments-service-client';`,
      6300,
    ],
    ['everything, signing included', `export * from 'payments-service-client/server';`, 9300],
  ])('adds little to %s, compressed', async (_, contents, limit) => {
    const { outputFiles, metafile } = await build({
      stdin: { contents, resolveDir: packed.consumer },
      ...({ bundle: true, minify: true, format: 'esm', platform: 'browser', write: false } as const),
      ...({ metafile: true, logLevel: 'silent' } as const),
    });
    const code = outputFiles[0]?.text ?? '';
    expect(Object.keys(metafile.inputs).length).toBeGreaterThan(5);
    expect(code).not.toMatch(/\brequire\(|\bBuffer\b|from"node:/);
    expect(gzipSync(code, { level: 9 }).length).toBeLessThan(limit);
    expect(gzipSync(code, { level: 9 }).length).toBeGreaterThan(limit / 2);
  });
});

describe('a consumer', () => {
  const program = `
    import { readFileSync } from 'node:fs';
    import { createPaymentsClient, PaymentsError, unwrap, verifyWebhook } from 'payments-service-client/server';
    export async function use([baseUrl, key]) {
      const client = createPaymentsClient({ baseUrl, keyPair: { privateKey: readFileSync(key) }, merchantAccount: 'marketplace' });
      let seen = 0;
      for await (const { merchant_account_id } of client.paginate('/transactions', { params: { query: { limit: 25 } } }))
        if (merchant_account_id === 'marketplace') seen += 1;
      const { error } = await client.GET('/transactions', { params: { query: { curency: 'EUR' } } });
      return { seen, code: error instanceof PaymentsError && error.code, verify: typeof verifyWebhook };
    }`;

  it('signs, calls and pages', async () => {
    const start = `console.log(JSON.stringify(await use(process.argv.slice(2))));`;
    await writeFile(join(packed.consumer, 'main.mjs'), `${program}\n${start}`);
    const given = [service.url, join(service.config.dataDir, 'sandbox-key.pem')];
    expect(JSON.parse(await succeed(process.execPath, ['main.mjs', ...given]))).toEqual({
      seen: 60,
      code: 'bad_request',
      verify: 'function',
    });
  });

  it('may use require', async () => {
    const code = `console.log(typeof require('payments-service-client').createPaymentsClient);`;
    await writeFile(join(packed.consumer, 'main.cjs'), code);
    expect(await succeed(process.execPath, ['main.cjs'])).toMatch(/^function$/m);
  });

  it('cannot reach into the package', async () => {
    const code = `await import('payments-service-client/client/retry.js');`;
    await writeFile(join(packed.consumer, 'reach.mjs'), code);
    const { output } = await run(process.execPath, ['reach.mjs'], { cwd: packed.consumer });
    expect(output).toMatch(/ERR_PACKAGE_PATH_NOT_EXPORTED/);
  });
});

describe('an editor', () => {
  it('shows answers by their names', async () => {
    const file = join(packed.consumer, 'hovers.ts');
    await writeFile(
      file,
      `import { createPaymentsClient, unwrap, verifyWebhook } from 'payments-service-client';
      const client = createPaymentsClient({ baseUrl: '/api', token: 'x' });
      const /*page*/page = unwrap(await client./*call*/GET('/transactions'));
      const [/*transaction*/transaction] = page.items;
      const { payment_method: /*card*/card, status: /*status*/status } = transaction!;
      for await (const /*pair*/pair of client.paginate('/api-key-pairs')) console.log(pair);
      const event = await verifyWebhook({ headers: {}, body: '', secret: '' });
      if (event.name === 'payment-method.created') { const /*target*/target = event.target; }`,
    );
    const settings = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler };
    const options = 'options?: CallOptions<"/transactions", "get"> | undefined';
    expect(hovers(file, { ...settings, strict: true, target: ts.ScriptTarget.ES2023, types: [] })).toEqual({
      page: 'const page: TransactionCollection',
      call: `(property) GET: <"/transactions">(path: "/transactions", ${options}) => Promise<Result<TransactionCollection>>`,
      transaction: 'const transaction: Transaction',
      card: 'const card: TransactionPaymentMethod | null',
      status: 'const status: TransactionStatus',
      pair: 'const pair: ApiKeyPair',
      target: 'const target: PaymentMethod',
    });
  });

  it('narrows by known values, which a later version may add to, and can write the types of what a consumer exports', async () => {
    const file = join(packed.consumer, 'exported.ts');
    const narrows = `export const f = ({ status }: Transaction): 'processing' | null => (status === 'processing' ? status : null);`;
    await writeFile(
      file,
      `import { createPaymentsClient, unwrap, type PaymentsClient, type Transaction } from 'payments-service-client';
      export const list = async (client: PaymentsClient) => unwrap(await client.GET('/transactions')).items;
      export const first = async (client: PaymentsClient) => (await list(client))[0];
      ${narrows}
      // @ts-expect-error It needs a default.
      export const g = ({ intent }: Transaction): number => { switch (intent) { case 'authorize': return 1; case 'capture': return 2; } };`,
    );
    for (const by of ['@typescript/native', 'typescript'] as const)
      expect(await faultsIn([file], { declaration: true, types: [] }, by)).toEqual([]);
  });
});

describeGuide(
  () => packed,
  () => service,
);
