// The table "What a change needs" of the guide for backend engineers, replayed: five changes, with no other file edited by hand
// than the table names, in one copy of the project. All of them share one run of `generate` and one start of the service.
import { createPrivateKey } from 'node:crypto';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMock } from '../../mock/mock.ts';
import { root } from '../../scripts/support/redocly.ts';
import { signToken } from '../../server/domain/token.ts';
import { announced, changes, type ProjectEdits } from '../support/changes.ts';
import { brokenProject, type Workspace } from '../support/contract-copy.ts';
import { compileInto } from '../support/compile.ts';
import { newDataDir } from '../support/data-dir.ts';
import { createTestDatabase } from '../support/database.ts';
import { runNode, startServer } from '../support/processes.ts';
import { withoutAnnounced, announcementsIn } from './specification/additions.ts';
import { Contract } from './specification/document.ts';
import { promises } from './specification/promises.ts';

const sides = (side: 'contract' | 'code') => Object.values(changes).map((change) => change[side]);
let made: Workspace;
/** The compiler errors of each file, before and after the code was written. */
let unwritten: Diagnose;
let written: Diagnose;
let generated: string[] = [];

beforeAll(async () => {
  made = await brokenProject({});
  const parts = ['server', 'client', 'mock', 'generated', 'tsconfig.json', 'CHANGELOG.md'];
  for (const part of [...parts, 'test/mock/parity.filters.values.ts'])
    await cp(join(root, part), join(made.folder, part), { recursive: true });
  // Migrations come before `generate`, which lists them.
  for (const edits of [announced, ...sides('contract'), ...sides('code')])
    await apply(edits, (path) => /^(openapi|CHANGELOG|server\/store\/migrations)/.test(path));
  const { status, output } = await runNode('scripts/generate.ts', [], { cwd: made.folder });
  expect(status, output).toBe(0);
  generated = output.match(/[\w./-]+\.(?:ts|json)/g) ?? [];
  unwritten = compile(made.folder);
  for (const edits of sides('code')) await apply(edits, (path) => !path.includes('migrations'));
  await writeFile(join(made.folder, 'server/misspelt.ts'), misspelt);
  written = compile(made.folder);
});
afterAll(() => made[Symbol.asyncDispose]());

async function apply(edits: ProjectEdits, isWanted: (path: string) => boolean): Promise<void> {
  for (const [path, edit] of Object.entries(edits).filter(([one]) => isWanted(one))) {
    const file = join(made.folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, edit(await readFile(file, 'utf8').catch(() => '')));
  }
}

const misspelt = `import { announce } from './actions/announce.ts';
import { ApiError } from './errors.ts';
export const event = () => announce(undefined as never, 'transaction.captered', () => undefined as never);
export const error = () => new ApiError('card_limit_reeched');
`;

type Diagnose = (file: string) => string;

// Source files that did not change are parsed once for both programs.
const parsed = new Map<string, ts.SourceFile>();

/** Type-checks only the files that are asked for, because checking all of them takes much longer. */
function compile(folder: string): Diagnose {
  const { config } = ts.readConfigFile(join(folder, 'tsconfig.json'), (file) => ts.sys.readFile(file)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  const host = ts.createCompilerHost(options);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getSourceFile = (file, ...rest) => {
    const known = parsed.get(file);
    if (known && known.text === ts.sys.readFile(file)) return known;
    const source = getSourceFile(file, ...rest);
    if (source) parsed.set(file, source);
    return source;
  };
  const names = [
    'server/handlers/index.ts',
    'server/actions/transactions.ts',
    'server/sandbox/sample-transactions.ts',
    'server/misspelt.ts',
    'mock/outcomes/transaction-filters.ts',
    'test/mock/parity.filters.values.ts',
  ];
  const roots = names.map((name) => join(folder, name)).filter((file) => ts.sys.fileExists(file));
  const program = ts.createProgram(roots, options, host);
  return (file) =>
    program
      .getSemanticDiagnostics(program.getSourceFile(join(folder, file)))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
      .join('\n');
}

describe('the guide', () => {
  it.each(Object.entries(changes))(
    'names every file of the change "%s", and no other',
    async (name, change) => {
      const guide = await readFile(join(root, 'docs/guides/backend-engineer.md'), 'utf8');
      const row = guide.split('\n').find((line) => line.startsWith(`| ${name} `)) ?? '';
      const [, , needs = ''] = row.split(' | ');
      const places = [...row.slice(row.indexOf('|', 2)).matchAll(/`([\w-]+\/[^`]+)`/g)].map(
        ([, place = '']) => place,
      );
      expect(places.length, needs).toBeGreaterThan(2);
      const pattern = (place: string) =>
        new RegExp(
          `^${place.replace(/\./g, '\\.').replace(/<[^>]+>/g, '[^/]+')}${place.endsWith('/') ? '' : '$'}`,
        );
      const files = Object.keys({ ...change.contract, ...change.code });
      expect(files.filter((file) => !places.some((place) => pattern(place).test(file)))).toEqual([]);
      expect(places.filter((place) => !files.some((file) => pattern(place).test(file)))).toEqual([]);
    },
  );

  it('counts nothing that is generated', () => {
    expect(generated).toContain('server/handlers/get-currencies.ts');
    expect(generated).toContain('server/store/migrations/index.ts');
    expect(generated).toContain('generated/operations.ts');
  });
});

describe('an operation', () => {
  it('has a stub that compiles, and a handler that does', () => {
    expect(unwritten('server/handlers/get-currencies.ts')).toBe('');
    expect(unwritten('server/handlers/index.ts')).toBe('');
    expect(written('server/handlers/get-currencies.ts')).toBe('');
    expect(written('server/handlers/index.ts')).toBe('');
  });

  it('is served by the mock, from its example', async () => {
    const mock = await startMock({ port: 0, contractFile: join(made.folder, 'generated/openapi.json') });
    try {
      const headers = { Authorization: 'Bearer anything' };
      const response = await fetch(`${mock.url}/currencies`, { headers });
      expect([response.status, await response.json()]).toEqual([200, { items: ['EUR', 'USD'] }]);
      expect((await fetch(`${mock.url}/currencies?unicorn=1`, { headers })).status).toBe(400);
    } finally {
      await mock.close();
    }
  });
});

describe('the compiler', () => {
  it('asks for the column of a new field, where the columns are, and for nothing else', () => {
    expect(unwritten('server/store/tables/transactions.ts')).toContain("'installments' is missing");
    expect(unwritten('server/sandbox/sample-transactions.ts')).toBe('');
    for (const file of [
      'store/tables/transactions',
      'store/transactions',
      'present/transaction',
      'actions/transactions',
    ])
      expect(written(`server/${file}.ts`)).toBe('');
  });

  it('asks for a new filter by its name: in the service, in the mock, and where they are compared', () => {
    for (const file of [
      'server/store/transaction-filters.ts',
      'mock/outcomes/transaction-filters.ts',
      'test/mock/parity.filters.values.ts',
    ]) {
      expect(unwritten(file)).toContain("'country' is missing");
      expect(written(file)).toBe('');
    }
    expect(written('server/handlers/list-transactions.ts')).toBe('');
  });

  it('knows a new event and a new error code, and no misspelling of them', () => {
    expect(written('server/actions/transactions.ts')).toBe('');
    expect(written('server/handlers/create-payment-method.ts')).toBe('');
    expect(written('server/misspelt.ts')).toContain('"transaction.captered"');
    expect(written('server/misspelt.ts')).toContain('"card_limit_reeched"');
  });
});

describe('the oracle', () => {
  it('needs no line for any of them, because the changelog names them', async () => {
    const contract = Contract.read(join(made.folder, 'generated/openapi.json'));
    const faults = promises.flatMap((promised) => promised.faults(contract));
    expect(new Set(faults.map(({ beyond }) => beyond))).toEqual(
      new Set(['GET /currencies', 'installments', 'country', 'transaction.captured', 'card_limit_reached']),
    );
    const changelog = await readFile(join(made.folder, 'CHANGELOG.md'), 'utf8');
    expect(withoutAnnounced(faults, announcementsIn(changelog))).toEqual([]);
  });
});

describe('the service', () => {
  it('serves the operation, stores and shows the field, and filters', async () => {
    await using dataDir = await newDataDir();
    const env = { DATA_DIR: dataDir.path, DATABASE_URL: await createTestDatabase() };
    await compileInto(made.folder, made.folder);
    await using server = await startServer(env, made.folder);
    const key = createPrivateKey(await readFile(join(dataDir.path, 'sandbox-key.pem')));
    const headers = { Authorization: `Bearer ${signToken(key, ['*.read'], 3600)}` };
    const get = async (path: string) => {
      const response = await fetch(server.url + path, { headers });
      return { status: response.status, body: (await response.json()) as { items: unknown[] } };
    };
    expect(await get('/currencies')).toEqual({ status: 200, body: { items: ['EUR', 'USD', 'JPY'] } });
    const { status, body } = await get('/transactions?country=NL&limit=3');
    expect(status).toBe(200);
    const shown = { country: 'NL', installments: null };
    expect(body.items).toMatchObject([shown, shown, shown]);
    expect(await get('/transactions?country=QQ')).toMatchObject({ status: 200, body: { items: [] } });
  });
});
