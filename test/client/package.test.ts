// What a consumer gets from `npm pack`: built and packed from a copy of the project, and unpacked outside of it.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractVersion } from '../../generated/operations.ts';
import { run } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

const root = join(import.meta.dirname, '..', '..');
const scratch = mkdtempSync(join(tmpdir(), 'payments-client-pack-'));
const tree = join(scratch, 'tree');
const consumer = join(scratch, 'consumer');
const tsc = join(root, 'node_modules/typescript/bin/tsc');

let packed: string[];
let service: TestService;

const link = (name: string) => {
  const path = join(consumer, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(root, 'node_modules', name), path);
};

const succeed = async (command: string, args: string[], cwd: string): Promise<string> => {
  const { status, output } = await run(command, args, { cwd, env: { npm_config_loglevel: 'error' } });
  expect(status, output).toBe(0);
  return output;
};

beforeAll(async () => {
  service = await startTestService();
  for (const name of ['client', 'generated', 'package.json', 'tsconfig.json', 'tsconfig.build.json'])
    cpSync(join(root, name), join(tree, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  await succeed(process.execPath, [tsc, '-p', 'tsconfig.build.json'], tree);
  // Other build output and private files, none of which may be packed.
  for (const file of [
    'dist/server/main.js',
    'dist/site/index.html',
    'server/main.ts',
    '.data/sandbox-key.pem',
  ]) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), '');
  }
  const output = await succeed(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch],
    tree,
  );
  const [report] = JSON.parse(output.slice(output.indexOf('['))) as [
    { filename: string; files: { path: string }[] },
  ];
  packed = report.files.map(({ path }) => path);
  mkdirSync(join(consumer, 'node_modules/payments-service'), { recursive: true });
  const into = join(consumer, 'node_modules/payments-service');
  await succeed('tar', ['-xzf', join(scratch, report.filename), '--strip-components=1', '-C', into], scratch);
  // Links the dependencies, which `npm install` would download.
  for (const name of [
    'openapi-fetch',
    'openapi-typescript-helpers',
    'jsonwebtoken',
    '@types/node',
    'undici-types',
  ])
    link(name);
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ type: 'module', private: true }));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true, force: true });
});

describe('the package', () => {
  it('has the version of the contract, and the guide names its file', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(version).toBe(contractVersion);
    const guide = readFileSync(join(root, 'docs/guides/frontend-team.md'), 'utf8');
    expect(guide).toContain(`payments-service-${version}.tgz`);
  });

  it('holds the client, its types and the sources that its source maps name, and nothing else', () => {
    const expected = /^(package\.json|README\.md|(dist\/)?client\/[\w.-]+|dist\/generated\/\w+\.d\.ts)$/;
    expect(packed.filter((path) => !expected.test(path))).toEqual([]);
    expect(packed).toContain('dist/client/index.js');
    expect(packed).toContain('dist/client/node.d.ts');
    expect(packed).toContain('client/index.ts');
  });

  it('names only files that it holds', () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      exports: Record<string, string | Record<string, string>>;
    };
    const named = Object.values(exports).flatMap((entry) =>
      typeof entry === 'string' ? entry : Object.values(entry),
    );
    expect(named.map((path) => path.slice(2)).filter((path) => !packed.includes(path))).toEqual([]);
    const maps = packed.filter((path) => path.endsWith('.map'));
    expect(maps.length).toBeGreaterThan(5);
    for (const map of maps) {
      const folder = join(consumer, 'node_modules/payments-service', dirname(map));
      const { sources } = JSON.parse(readFileSync(join(tree, map), 'utf8')) as { sources: string[] };
      expect(sources.filter((source) => !existsSync(join(folder, source)))).toEqual([]);
    }
  });
});

describe('a consumer', () => {
  it('in Node.js signs, calls and walks', async () => {
    writeFileSync(
      join(consumer, 'main.js'),
      `import { readFileSync } from 'node:fs';
      import { createPaymentsClient, PaymentsError, unwrap, verifyWebhook } from 'payments-service/client/node';
      const [baseUrl, key] = process.argv.slice(2);
      const client = createPaymentsClient({ baseUrl, keyPair: { privateKey: readFileSync(key) }, merchantAccount: 'marketplace' });
      let seen = 0;
      for await (const { merchant_account_id } of client.paginate('/transactions', { query: { limit: 25 } }))
        if (merchant_account_id === 'marketplace') seen += 1;
      const refused = await client.GET('/transactions', { params: { query: { curency: 'EUR' } } }).then(unwrap).catch((error) => error);
      console.log(JSON.stringify({ seen, code: refused instanceof PaymentsError && refused.code, verify: typeof verifyWebhook }));`,
    );
    const output = await succeed(
      process.execPath,
      ['main.js', service.url, join(service.config.dataDir, 'sandbox-key.pem')],
      consumer,
    );
    expect(JSON.parse(output)).toEqual({ seen: 60, code: 'bad_request', verify: 'function' });
  });

  it('may use require', async () => {
    writeFileSync(
      join(consumer, 'main.cjs'),
      `console.log(typeof require('payments-service/client').createPaymentsClient);`,
    );
    expect(await succeed(process.execPath, ['main.cjs'], consumer)).toMatch(/^function$/m);
  });

  it('cannot reach into the package', async () => {
    writeFileSync(join(consumer, 'reach.js'), `await import('payments-service/dist/client/retry.js');`);
    const { output } = await run(process.execPath, ['reach.js'], { cwd: consumer });
    expect(output).toMatch(/ERR_PACKAGE_PATH_NOT_EXPORTED/);
  });

  const use = (entry: string, rest: string) => `
    import { createPaymentsClient, unwrap, verifyWebhook, type Schemas } from '${entry}';
    ${rest}
    export const amounts = async () => {
      const found: number[] = [];
      for await (const one of client.paginate('/transactions', { query: { status: ['processing'] } })) found.push(one.amount);
      const all: Schemas['Transaction'][] = unwrap(await client.GET('/transactions')).items;
      return [...found, all.length];
    };
    export const hook = async (request: Request) => {
      const event = await verifyWebhook({ headers: request.headers, body: await request.text(), secret: 'whsec_' });
      return event.name === 'transaction.created' ? event.target.amount : 0;
    };`;
  const keyPair = `const client = createPaymentsClient({ baseUrl: '', keyPair: { privateKey: Buffer.from('') } });`;
  const token = `const client = createPaymentsClient({ baseUrl: '', token: 'x', fetch });`;
  const wrong = (code: string) =>
    `import { createPaymentsClient } from 'payments-service/client';\n${token}\nexport const wrong = () => ${code};`;

  it('on a server is type-checked, our declarations included', () => {
    const found = faultsOf(
      {
        'server.ts': use('payments-service/client/node', keyPair),
        'token.ts': use('payments-service/client', token),
      },
      { module: ts.ModuleKind.NodeNext, types: ['node'] },
    );
    expect(found).toEqual([]);
  });

  it('in a browser, whose compiler knows no Node.js, is type-checked too, and told what is wrong', () => {
    const found = faultsOf(
      {
        'browser.ts': use('payments-service/client', token),
        'filter.ts': wrong(`client.paginate('/transactions', { query: { curency: [''] } })`),
        'path.ts': wrong(`client.GET('/refunds')`),
        'field.ts': wrong(`client.paginate('/transactions').next().then(({ value }) => value?.total)`),
      },
      {
        module: ts.ModuleKind.ESNext,
        moduleResolution: ts.ModuleResolutionKind.Bundler,
        lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.asynciterable.d.ts'],
        types: [],
      },
    );
    expect(found).toEqual([
      expect.stringMatching(/^filter\.ts: .*curency/),
      expect.stringMatching(/^path\.ts: .*refunds/),
      expect.stringMatching(/^field\.ts: .*total/),
    ]);
  });

  /** The compiler errors in these files and in our declarations. */
  function faultsOf(files: Record<string, string>, options: ts.CompilerOptions): string[] {
    const paths = Object.entries(files).map(([name, code]) => {
      writeFileSync(join(consumer, name), code);
      return join(consumer, name);
    });
    const program = ts.createProgram(paths, {
      ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, target: ts.ScriptTarget.ES2023 },
      ...options,
    });
    const ours = program.getSourceFiles().filter(({ fileName }) => fileName.includes('/payments-service/'));
    expect(ours.length).toBeGreaterThan(5);
    return [...paths.map((path) => program.getSourceFile(path)), ...ours].flatMap((file) =>
      [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
        ({ messageText }) =>
          `${basename(file?.fileName ?? '')}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
      ),
    );
  }
});
