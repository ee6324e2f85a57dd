// The recipes of the guide for backend engineers, replayed in one copy of the project: the table "What a change needs", with no
// other file edited by hand than the table names; `npm run new`; and `npm run generate` itself, with one more operation that
// nobody has written yet. All of them share one copy, its generated code and one start of the service.
import { createPrivateKey, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { check as isFormatted, resolveConfig } from 'prettier';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMock } from '../../mock/mock.ts';
import { bundleContract } from '../../scripts/generate/bundle.ts';
import { generate, type Outcome } from '../../scripts/generate/generate.ts';
import { planOf, readCall, WrongCall } from '../../scripts/new/call.ts';
import { carryOut, Refusal } from '../../scripts/new/plan.ts';
import { root } from '../../scripts/support/root.ts';
import { signToken } from '../../server/resources/api-key-pairs/token.ts';
import { adviceFor, announcementsIn, withoutAnnounced } from '../contract/specification/additions.ts';
import { Contract } from '../contract/specification/document.ts';
import { promises } from '../contract/specification/promises.ts';
import {
  announced,
  changes,
  emptyAnswer,
  newThings,
  onlyDesigned,
  recipes,
  type ProjectEdits,
} from '../support/changes.ts';
import { compileInto } from '../support/compile.ts';
import { compile } from '../support/compiler.ts';
import { brokenProject, type Workspace } from '../support/contract-copy.ts';
import { newDataDir, type DataDir } from '../support/data-dir.ts';
import { createTestDatabase } from '../support/database.ts';
import { runNode, startServer, type Ended, type Server } from '../support/processes.ts';

const sides = (side: 'contract' | 'code') => Object.values(changes).map((change) => change[side]);
let made: Workspace;
/** The compiler errors of each file, before and after the code was written. */
let unwritten: Diagnose;
let compiled: Diagnose;
/** `generate --check` before, `generate`, and `generate --check` after. */
let stale: Ended;
let fresh: Outcome;
let checked: Outcome;
let handlersBefore: string[];
let generated: string[] = [];
let listTest: string;
/** What `npm run new` said, which files each call wrote, and what it wants done next. */
let said: Ended;
const writtenBy = new Map<string, string[]>();
const next: string[][] = [];

beforeAll(async () => {
  made = await brokenProject({});
  const parts = ['server', 'client', 'mock', 'generated', 'tsconfig.json', 'CHANGELOG.md'];
  const tests = ['support', 'service/operations'];
  for (const part of [...parts, ...tests.map((name) => `test/${name}`)])
    await cp(join(root, part), join(made.folder, part), { recursive: true });
  // Migrations come before `generate`, which lists them.
  for (const edits of [announced, onlyDesigned, ...sides('contract'), ...sides('code')])
    await apply(edits, isFirst);
  await apply(handlers, () => true);
  await createNewThings();
  await apply(emptyAnswer, () => true);
  // Once as people call it, then without starting a process for each.
  stale = await runNode('scripts/generate.ts', ['--check'], { cwd: made.folder });
  handlersBefore = await readdir(join(made.folder, 'server/handlers'));
  const bundled = await bundleContract(made.folder);
  if ('fault' in bundled) throw new Error(bundled.fault);
  fresh = await generate(made.folder, { bundled });
  expect(fresh.ok, fresh.message).toBe(true);
  checked = await generate(made.folder, { check: true, bundled });
  listTest = await readFile(join(made.folder, 'test/service/operations/list-refund-reasons.test.ts'), 'utf8');
  generated = fresh.message.match(/[\w./-]+\.(?:ts|json)/g) ?? [];
  unwritten = await diagnose();
  for (const edits of sides('code')) await apply(edits, (path) => !isFirst(path));
  await apply(recipes, () => true);
  await writeFile(join(made.folder, 'server/misspelt.ts'), misspelt);
  await writeFile(join(made.folder, 'client/use.ts'), clientUse);
  compiled = await diagnose();
}, 300_000);
afterAll(() => made[Symbol.asyncDispose]());

const isFirst = (path: string) => /^(openapi|CHANGELOG|server\/database\/migrations)/.test(path);

const create = (...args: string[]) => runNode('scripts/new.ts', args, { cwd: made.folder });

/** The first as people call it, the others without starting a process for each. */
async function createNewThings(): Promise<void> {
  for (const thing of newThings) {
    if (!Array.isArray(thing)) await apply(thing, () => true);
    else if (writtenBy.size === 0) {
      said = await create(...thing, '--no-generate');
      const files = [...said.output.matchAll(/^✓ (.+)$/gm)].map(([, file = '']) => file);
      writtenBy.set(thing.join(' '), files);
    } else {
      const plan = await planOf(made.folder, readCall(thing));
      writtenBy.set(thing.join(' '), await carryOut(made.folder, plan));
      next.push(plan.next);
    }
  }
}

async function apply(edits: ProjectEdits, isWanted: (path: string) => boolean): Promise<void> {
  for (const [path, edit] of Object.entries(edits).filter(([one]) => isWanted(one))) {
    const file = join(made.folder, await numbered(path));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, edit(await readFile(file, 'utf8').catch(() => '')));
  }
}

/** The migration that `npm run new` wrote. */
async function numbered(path: string): Promise<string> {
  const [folder = '', ending] = path.split('<number>');
  if (ending === undefined) return path;
  const files = await readdir(join(made.folder, folder));
  return `${folder}${files.find((file) => file.replace(/^\d+/, '') === ending) ?? ending}`;
}

/** A handler that somebody has edited, one whose operation is gone, and code that uses the operation without a handler. */
const handlers: ProjectEdits = {
  'server/handlers/list-transactions.ts': (text) => `// mine\n${text}`,
  'server/handlers/list-unicorns.ts': () => 'export {};\n',
  'server/handlers/use.ts': () => `import type { Input } from '../../generated/operations.ts';
export const idOf = ({ path }: Input<'getCardScheme'>): string => path.card_scheme_id;
`,
};

const misspelt = `import type { Result } from '../generated/operations.ts';
import { withEvent } from './events/outbox.ts';
import { ApiError } from './errors.ts';
export const event = () => withEvent(undefined as never, 'transaction.captered', () => undefined as never, () => undefined as never);
export const error = () => new ApiError('card_limit_reeched');
export const gone: Result<'deleteRefundReason'> = { status: 204, body: { gone: true } };
`;

const clientUse = `import { unwrap, type PaymentsClient } from './index.ts';
const params = { path: { reason_id: 'x' } };
export const remove = async (client: PaymentsClient): Promise<undefined> =>
  unwrap(await client.DELETE('/refund-reasons/{reason_id}', { params }));
export const rename = async (client: PaymentsClient): Promise<string> =>
  unwrap(await client.PATCH('/refund-reasons/{reason_id}', { params, body: { display_name: 'x' } })).display_name;
`;

type Diagnose = (file: string) => string;

async function diagnose(): Promise<Diagnose> {
  const names = [
    'server/handlers/index.ts',
    'server/handlers/use.ts',
    'server/resources/transactions/changes.ts',
    'server/sandbox/sample-transactions.ts',
    'server/misspelt.ts',
    'client/use.ts',
    'mock/outcomes/transaction-filters.ts',
    'test/service/operations/get-buyer.test.ts',
    'test/service/operations/get-buyer-note.test.ts',
    'test/service/operations/create-buyer-note.test.ts',
    'test/service/operations/get-refund-reason.test.ts',
    'test/service/operations/update-refund-reason.test.ts',
    'test/service/operations/list-refund-reasons.test.ts',
    'test/service/operations/create-membership.test.ts',
    'server/resources/ledger-entries/queries.ts',
    // Tables whose types nobody imports.
    ...(await readdir(join(made.folder, 'server'), { recursive: true }))
      .filter((name) => name.endsWith('table.ts'))
      .map((name) => `server/${name}`),
    'server/upkeep/audit.ts',
  ];
  const files = names.map((name) => join(made.folder, name)).filter(existsSync);
  const faults = await compile(made.folder, files, { extends: './tsconfig.json' });
  return (name) =>
    faults
      .filter(({ file }) => file === join(made.folder, name))
      .map(({ message }) => message)
      .join('\n');
}

describe('npm run generate', () => {
  it('--check writes nothing, names every file that is out of date and the command to run', () => {
    expect(stale.status).toBe(1);
    expect(stale.output).toMatch(/^Out of date with openapi\/:\n( {2}.*\n)* {2}generated\/operations\.ts$/m);
    expect(stale.output).toMatch(/^Out of date with server\/database\/migrations\/:$/m);
    expect(stale.output).toContain('server/database/migrations/index.ts');
    expect(stale.output).toContain('server/handlers/get-card-scheme.ts');
    expect(stale.output).toContain('Run: npm run generate');
    expect(handlersBefore).not.toContain('get-card-scheme.ts');
  });

  it('writes a stub for the new operation, touches no existing handler, and reports the orphan', async () => {
    const handler = (name: string) => readFile(join(made.folder, `server/handlers/${name}.ts`), 'utf8');
    const orphan = 'server/handlers/list-unicorns.ts names no operation';
    expect(stale.output).toContain(orphan);
    expect(fresh.warnings).toContainEqual(expect.stringContaining(orphan));
    expect(await handler('list-transactions')).toMatch(/^\/\/ mine\n/);
    expect(await handler('get-card-scheme')).toContain("Handler<'getCardScheme', Deps>");
    expect(checked).toMatchObject({ ok: true, message: 'Generated code matches the contract' });
  });

  it('lists each filter as a thing to test', () => {
    expect(listTest.match(/it\.todo\(\s*'\w+/g)).toEqual([expect.stringMatching(/'severity$/)]);
  });

  it('makes a stub that compiles, and types with the parameters of its path', () => {
    expect(unwritten('server/handlers/get-card-scheme.ts')).toBe('');
    expect(unwritten('server/handlers/use.ts')).toBe('');
  });
});

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
      const byCall = writtenBy.get(change.call ?? '') ?? [];
      const files = [...Object.keys({ ...change.contract, ...change.code }), ...byCall];
      expect(files.filter((file) => !places.some((place) => pattern(place).test(file)))).toEqual([]);
      expect(places.filter((place) => !files.some((file) => pattern(place).test(file)))).toEqual([]);
    },
  );

  it('counts nothing that is generated', () => {
    expect(generated).toContain('server/handlers/get-currencies.ts');
    expect(generated).toContain('server/database/migrations/index.ts');
    expect(generated).toContain('generated/operations.ts');
  });
});

describe('an operation', () => {
  it('has a stub that compiles, and a handler that does', () => {
    expect(unwritten('server/handlers/get-currencies.ts')).toBe('');
    expect(unwritten('server/handlers/index.ts')).toBe('');
    expect(compiled('server/handlers/get-currencies.ts')).toBe('');
    expect(compiled('server/handlers/index.ts')).toBe('');
  });

  it('is served by the mock, from its example', async () => {
    const id = randomUUID();
    const mock = await startMock({ port: 0, contractFile: join(made.folder, 'generated/openapi.json') });
    try {
      const headers = { Authorization: 'Bearer anything' };
      const response = await fetch(`${mock.url}/currencies`, { headers });
      expect([response.status, await response.json()]).toEqual([200, { items: ['EUR', 'USD'] }]);
      expect((await fetch(`${mock.url}/currencies?unicorn=1`, { headers })).status).toBe(400);
      const note = { type: 'buyer-note', display_name: 'First buyer note' };
      const reason = await fetch(`${mock.url}/refund-reasons/${id}`, { headers });
      expect(await reason.json()).toMatchObject({ type: 'refund-reason', severity: 'minor' });
      const one = await fetch(`${mock.url}/buyer-notes/${id}`, { headers });
      expect([one.status, await one.json()]).toEqual([200, expect.objectContaining(note)]);
      const page = await fetch(`${mock.url}/buyer-notes`, { headers });
      expect(await page.json()).toMatchObject({ items: [note], next_cursor: null });
      expect(await sent(mock.url, 'DELETE', `/buyer-labels/${id}`, 'anything')).toMatchObject(noContent);
      expect(await methodsFor(mock.url)).toBe('DELETE, GET, PATCH, POST, PUT');
    } finally {
      await mock.close();
    }
  });
});

const noContent = { status: 204, type: null, length: null, text: '' };

async function sent(url: string, method: string, path: string, bearer: string) {
  const response = await fetch(url + path, { method, headers: { Authorization: `Bearer ${bearer}` } });
  const [type, length, example] = ['content-type', 'content-length', 'x-contract-example'].map((name) =>
    response.headers.get(name),
  );
  return { status: response.status, type, length, example, text: await response.text() };
}

/** What a web page of another origin may call. */
async function methodsFor(url: string): Promise<string | null> {
  const headers = { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'DELETE' };
  const { headers: told } = await fetch(`${url}/buyer-notes`, { method: 'OPTIONS', headers });
  return told.get('access-control-allow-methods');
}

describe('npm run new', () => {
  it('names every file that it wrote, and what to do next', () => {
    expect([said.status, said.output]).toEqual([
      0,
      expect.stringMatching(/^Next:\n {2}1\. Generate what follows: npm run generate\n {2}2\. \w/m),
    ]);
    for (const steps of next) expect(steps.length).toBeGreaterThan(1);
    expect([...writtenBy.values()].flat()).toEqual(
      expect.arrayContaining([
        'openapi/openapi.yaml',
        'openapi/paths/buyer-notes_{note_id}.yaml',
        'openapi/components/parameters/NoteId.yaml',
        'openapi/components/schemas/BuyerNoteCollection.yaml',
        'openapi/components/schemas/Severity.yaml',
        'server/handlers/list-refund-reasons.ts',
        'server/resources/memberships/changes.ts',
      ]),
    );
    expect(said.output).toContain('npm test -- get-buyer-note');
    expect(said.output).toContain('the tag "Buyer notes" in openapi/openapi.yaml');
  });

  it('writes what passes the lint: house rules, format and types', async () => {
    // bundleContract refuses a contract that breaks a house rule.
    expect(fresh.ok).toBe(true);
    const tests = [
      'get-buyer-note',
      'create-buyer-note',
      'list-buyer-notes',
      'update-buyer-note',
      'delete-buyer-label',
    ];
    const stubs = tests.flatMap((name) => [
      `server/handlers/${name}.ts`,
      `test/service/operations/${name}.test.ts`,
    ]);
    // Nothing formats SQL, nor what a recipe has added.
    const written = [...writtenBy.values()]
      .flat()
      .filter((file) => !file.endsWith('.sql') && !(file in recipes));
    for (const file of [...written, ...stubs]) {
      const text = await readFile(join(made.folder, file), 'utf8');
      const style = await resolveConfig(join(root, 'package.json'));
      expect([file, await isFormatted(text, { ...style, filepath: file })]).toEqual([file, true]);
    }
    for (const file of [
      ...['server/resources/transactions/filters.ts', 'mock/outcomes/transaction-filters.ts'],
      ...['server/handlers/get-buyer.ts', 'test/service/operations/get-buyer.test.ts'],
      ...['table', 'queries', 'changes'].map((name) => `server/resources/refund-reasons/${name}.ts`),
      ...['server/handlers/create-refund-reason.ts', 'server/handlers/get-refund-reason.ts'],
      ...['server/handlers/update-refund-reason.ts', 'server/handlers/delete-refund-reason.ts'],
      ...['server/handlers/update-buyer-note.ts', 'client/use.ts'],
      ...['table', 'queries', 'changes'].map((name) => `server/resources/memberships/${name}.ts`),
      'server/handlers/create-membership.ts',
      'server/resources/personal.ts',
      'test/service/operations/create-membership.test.ts',
      ...['queries', 'table'].map((name) => `server/resources/ledger-entries/${name}.ts`),
      ...['server/handlers/list-refund-reasons.ts', 'test/service/operations/list-refund-reasons.test.ts'],
      ...[
        'test/service/operations/get-refund-reason.test.ts',
        'test/service/operations/update-refund-reason.test.ts',
      ],
      ...['server/handlers/create-buyer-note.ts', 'server/handlers/get-buyer-note.ts'],
      ...[
        'test/service/operations/create-buyer-note.test.ts',
        'test/service/operations/get-buyer-note.test.ts',
      ],
    ])
      expect([file, compiled(file)]).toEqual([file, '']);
  });

  it('does what its help shows, in this order', async () => {
    await using copy = await brokenProject({});
    for (const part of ['server/resources', 'server/handlers', 'server/database/migrations'])
      await cp(join(root, part), join(copy.folder, part), { recursive: true });
    const { output } = await create('--help');
    const calls = [...output.matchAll(/^ {2}npm run new -- (.*?) {2,}/gm)].map(([, call = '']) => call);
    expect(calls.length).toBeGreaterThan(4);
    for (const call of calls) {
      const carriedOut = planOf(copy.folder, readCall(call.split(' '))).then((plan) =>
        carryOut(copy.folder, plan),
      );
      await expect(carriedOut, call).resolves.not.toEqual([]);
    }
  });

  it("does what the designers' guide shows", async () => {
    const guide = await readFile(join(root, 'docs/guides/api-designer.md'), 'utf8');
    const calls = [...guide.matchAll(/`npm run new -- (\w+ [^`]+)`/g)].map(([, call = '']) => call);
    expect(calls.length).toBeGreaterThan(2);
    for (const call of calls) {
      const planned = planOf(root, readCall(call.split(' '))).then(
        ({ write }) => Object.keys(write).join(' '),
        // Somebody has done what the guide shows.
        (error: unknown) => (error instanceof Refusal ? error.message : ''),
      );
      await expect(planned, call).resolves.toMatch(/openapi\/|server\/| already/);
    }
  });

  it('keeps every line of openapi.yaml, comments included', async () => {
    const lines = (await readFile(join(made.folder, 'openapi/openapi.yaml'), 'utf8')).split('\n');
    const before = (await readFile(join(root, 'openapi/openapi.yaml'), 'utf8')).split('\n');
    let from = 0;
    for (const line of before.filter((one) => !one.startsWith('  version:'))) {
      from = lines.indexOf(line, from) + 1;
      expect([line, from > 0]).toEqual([line, true]);
    }
  });

  it.each([
    [['operation', 'GET', '/buyer-notes'], 'GET /buyer-notes exists already'],
    [['operation', 'TRACE', '/buyer-notes'], 'none of POST, GET, PUT, PATCH, DELETE'],
    [['operation', 'DELETE', '/buyer-notes'], 'operation DELETE /buyer-notes/{buyer_note_id}'],
    [['operation', 'PATCH', '/buyers/{buyer_id}', '--id', 'changeBuyer'], 'begins with update'],
    [['operation', 'GET', '/buyerNotes'], 'lower case with hyphens'],
    [['operation', 'GET', '/notes', '--id', 'fetchNotes'], 'begins with list or get'],
    [['operation', 'POST', '/buyer-notes/{note_id}'], 'operation POST /buyer-notes'],
    [['field', 'Shoe', '--in', 'Buyer'], 'snake_case'],
    [['field', 'severity_level', '--in', 'RefundReason', '--values', 'Minor'], 'in lower case'],
    [['table', 'buyer_notes'], 'when a buyer is erased: --erasure display_name=erased'],
    [['table', 'buyer_notes', '--erasure', 'display_name=keep'], '--erasure display_name=erased'],
    [['table', 'buyer_notes', '--erasure', 'erased'], '--erasure display_name=erased'],
    [['table', 'buyerNotes'], 'table refund_reasons'],
    [['table', 'buyer_note'], 'in the plural: table buyer_notes'],
    [['table', 'ledger_entries'], 'The table ledger_entries exists already'],
    [['field', 'shipped_at'], 'These are stored: '],
    [['field', 'shipped_at', '--in', 'Transactions'], 'Did you mean --in Transaction?'],
    [
      ['field', 'note', '--in', 'BuyerNote'],
      'BuyerNote is not stored: no table of server/resources describes it. Add the field by hand, below `properties:` of openapi/components/schemas/BuyerNote.yaml',
    ],
    [['field', 'severity', '--in', 'RefundReason'], 'has the field severity already'],
    [['field', 'note', '--in', 'RefundReason', '--type', 'strng'], 'Did you mean --type string?'],
    [['field', 'note', '--in', 'RefundReason', '--type', 'enum'], '--values'],
    [['field', 'note', '--in', 'Transaction'], '--erasure erased'],
  ])('refuses %j and says why', async (args, reason) => {
    const carriedOut = planOf(made.folder, readCall(args)).then((plan) => carryOut(made.folder, plan));
    await expect(carriedOut).rejects.toThrow(reason);
    await expect(carriedOut).rejects.toBeInstanceOf(Refusal);
  });

  it.each([[[]], [['unicorn']], [['operation', '/buyers']], [['table', '--unicorn']]])(
    'does not understand %j',
    async (args) => {
      await expect((async () => planOf(made.folder, readCall(args)))()).rejects.toBeInstanceOf(WrongCall);
    },
  );

  it('shows a file that is not YAML as the lint does', async () => {
    const file = join(made.folder, 'openapi/components/schemas/Role.yaml');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('type: object', 'type: [object'));
    const { status, output } = await create('field', 'note', '--in', 'Role');
    await writeFile(file, text);
    expect([status, output]).toEqual([
      1,
      expect.stringMatching(/openapi\/components\/schemas\/Role\.yaml:\d+:\d+[^]*Nothing was written\.$/m),
    ]);
    expect(output).not.toMatch(/YAMLParseError|node_modules/);
  });

  it('lists the files of a dry run, and writes none of them', async () => {
    const { status, output } = await create('operation', 'GET', '/ponies', '--dry-run');
    expect(status).toBe(0);
    expect(output).toMatch(
      /^Nothing was written\. These files would be:\n( {2}.+\n)* {2}openapi\/paths\/ponies\.yaml$/m,
    );
    expect(existsSync(join(made.folder, 'openapi/paths/ponies.yaml'))).toBe(false);
  });

  it('says that nothing was written, and how it is called', async () => {
    const [refused, wrong] = [await create('table', 'buyer_note'), await create('feild', 'x')];
    expect([refused.status, refused.output]).toEqual([1, expect.stringMatching(/Nothing was written\.$/m)]);
    expect([wrong.status, wrong.output]).toEqual([
      2,
      expect.stringMatching(
        /^"feild" is not known. Did you mean field\?$[^]*npm run new -- field installments/m,
      ),
    ]);
  });
});

describe('the compiler', () => {
  it('asks for the column of a new field, and whether it is personal data, and for nothing else', () => {
    expect(unwritten('server/resources/transactions/table.ts')).toContain("'installments' is missing");
    expect(unwritten('server/resources/personal.ts')).toContain("'installments' is missing");
    expect(unwritten('server/resources/personal.ts')).toContain('KeptOrErased<');
    expect(unwritten('server/sandbox/sample-transactions.ts')).toBe('');
    for (const file of [
      'transactions/table',
      'personal',
      'transactions/queries',
      'transactions/changes',
      'refund-reasons/table',
    ])
      expect(compiled(`server/resources/${file}.ts`)).toBe('');
  });

  it('asks for a new filter by its name, in the service and in the mock', () => {
    for (const file of ['server/resources/transactions/filters.ts', 'mock/outcomes/transaction-filters.ts']) {
      expect(unwritten(file)).toContain("'country' is missing");
      expect(compiled(file)).toBe('');
    }
    expect(compiled('server/handlers/list-transactions.ts')).toBe('');
  });

  it('knows a new event and a new error code, and no misspelling of them', () => {
    expect(compiled('server/resources/transactions/changes.ts')).toBe('');
    expect(compiled('server/handlers/create-payment-method.ts')).toBe('');
    expect(compiled('server/misspelt.ts')).toContain('"transaction.captered"');
    expect(compiled('server/misspelt.ts')).toContain('"card_limit_reeched"');
  });

  it('knows that an answer without content has no body', () => {
    expect(unwritten('server/handlers/delete-buyer-label.ts')).toBe('');
    expect(compiled('server/misspelt.ts')).toContain("'gone' does not exist");
  });
});

describe('the oracle', () => {
  it('needs no line for any of them, because the changelog names them', async () => {
    const faultsOf = (folder: string) => {
      const contract = Contract.read(join(folder, 'generated/openapi.json'));
      return promises.flatMap((promised) => promised.faults(contract));
    };
    const faults = faultsOf(made.folder);
    // The contract itself may have additions that are not released yet.
    const before = new Set(faultsOf(root).map(({ beyond }) => beyond));
    expect(new Set(faults.map(({ beyond }) => beyond).filter((name) => !before.has(name)))).toEqual(
      new Set([
        'GET /currencies',
        'GET /card-schemes/{card_scheme_id}',
        'installments',
        'country',
        'transaction.captured',
        'card_limit_reached',
        'GET /buyer-notes',
        'POST /buyer-notes',
        'GET /buyer-notes/{note_id}',
        'GET /buyers/{buyer_id}',
        'POST /refund-reasons',
        'GET /refund-reasons/{reason_id}',
        'GET /refund-reasons',
        'POST /memberships',
        'membership.created',
        'DELETE /refund-reasons/{reason_id}',
        'PATCH /refund-reasons/{reason_id}',
        'PATCH /buyer-notes/{note_id}',
        'PUT /buyer-notes/{note_id}',
        'DELETE /buyer-labels/{label_id}',
        'refund-reason.created',
        'shipped_at',
      ]),
    );
    const changelog = await readFile(join(made.folder, 'CHANGELOG.md'), 'utf8');
    expect(withoutAnnounced(faults, announcementsIn(changelog))).toEqual([]);
    const forgotten = faults.filter(({ beyond }) => beyond === 'country' || beyond === 'membership.created');
    expect(adviceFor(forgotten)).toMatch(/^Name (`country`|, |`membership\.created`)+ in a line below/);
    expect(adviceFor([])).toBe(undefined);
  });
});

/** The client of the copy, whose types this project does not know. */
interface Client {
  createPaymentsClient: (
    options: object,
  ) => Record<
    'PATCH' | 'DELETE',
    (path: string, init: object) => Promise<{ data?: { display_name: string }; error?: { code: string } }>
  >;
}

describe('the service', () => {
  let dataDir: DataDir;
  let server: Server;
  let token: string;
  beforeAll(async () => {
    dataDir = await newDataDir();
    await compileInto(made.folder, made.folder);
    const env = { DATA_DIR: dataDir.path, DATABASE_URL: await createTestDatabase() };
    server = await startServer(env, made.folder);
    const key = createPrivateKey(await readFile(join(dataDir.path, 'sandbox-key.pem')));
    token = signToken(key, ['*.read', '*.write'], 3600);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await dataDir[Symbol.asyncDispose]();
  });
  const createReason = async () => {
    const body = JSON.stringify({ display_name: 'Damaged' });
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const response = await fetch(`${server.url}/refund-reasons`, { method: 'POST', headers, body });
    const made = (await response.json()) as { id: string };
    expect(made).toMatchObject({ display_name: 'Damaged', severity: null });
    return made.id;
  };
  const request = (path: string, bearer = token) =>
    fetch(server.url + path, { headers: { Authorization: `Bearer ${bearer}` } });

  it('serves the operation, stores and shows the field, and filters', async () => {
    const get = async (path: string) => {
      const response = await request(path);
      return { status: response.status, body: (await response.json()) as { items: unknown[] } };
    };
    expect(await get('/currencies')).toEqual({ status: 200, body: { items: ['EUR', 'USD', 'JPY'] } });
    const { status, body } = await get('/transactions?country=NL&limit=3');
    expect(status).toBe(200);
    const shown = { country: 'NL', installments: null, shipped_at: null };
    expect(body.items).toMatchObject([shown, shown, shown]);
    expect(await get('/transactions?country=QQ')).toMatchObject({ status: 200, body: { items: [] } });
  });

  it('stores, finds, lists and filters the records of a table that `npm run new` has written', async () => {
    const id = await createReason();
    const found = await request(`/refund-reasons/${id}`);
    expect([found.status, await found.json()]).toEqual([200, expect.objectContaining({ id })]);
    const listed = (await (await request('/refund-reasons')).json()) as { items: { id: string }[] };
    expect(listed.items.map((item) => item.id)).toContain(id);
    expect(await (await request('/refund-reasons?severity=major')).json()).toMatchObject({ items: [] });
    expect((await request(`/refund-reasons/${randomUUID()}`)).status).toBe(404);
  });

  it('answers what `npm run new` has written, with the example', async () => {
    const one = await request(`/buyer-notes/${randomUUID()}`);
    expect([one.status, await one.json()]).toEqual([200, expect.objectContaining({ type: 'buyer-note' })]);
    const page = await request('/buyer-notes');
    expect([page.status, await page.json()]).toEqual([200, expect.objectContaining({ next_cursor: null })]);
  });

  it('answers a deletion without a body, also to the client and to other origins', async () => {
    const stub = { ...noContent, example: 'no_content' };
    expect(await sent(server.url, 'DELETE', `/buyer-labels/${randomUUID()}`, token)).toEqual(stub);
    expect(await sent(server.url, 'DELETE', '/buyer-labels/unicorn', token)).toMatchObject({ status: 400 });
    expect(await methodsFor(server.url)).toBe('DELETE, GET, PATCH, POST, PUT');
    const { createPaymentsClient } = (await import(join(made.folder, 'client/index.ts'))) as Client;
    const client = createPaymentsClient({ baseUrl: server.url, token });
    const [reason_id, unknown] = [await createReason(), randomUUID()];
    const call = (method: 'PATCH' | 'DELETE', id: string, body?: object) =>
      client[method]('/refund-reasons/{reason_id}', { params: { path: { reason_id: id } }, body });
    expect((await call('PATCH', reason_id, { display_name: 'Late' })).data?.display_name).toBe('Late');
    expect((await call('PATCH', unknown, { display_name: 'Late' })).error?.code).toBe('not_found');
    const removed = await call('DELETE', reason_id);
    expect([removed.error, removed.data]).toEqual([undefined, undefined]);
    expect((await call('DELETE', reason_id)).error?.code).toBe('not_found');
  });

  it('answers from a stub, with every check of the pipeline, that of its path included', async () => {
    const get = async (id: string, bearer?: string) => {
      const response = await request(`/card-schemes/${id}`, bearer);
      const { details } = (await response.json()) as { details?: { message: string }[] };
      const told = details?.map(({ message: _message, ...rest }) => rest);
      return [response.status, told ?? response.headers.get('X-Contract-Example')];
    };
    const fault = (type: string) => [{ location: 'path', pointer: '/card_scheme_id', type }];
    expect(await get(randomUUID())).toEqual([200, expect.any(String)]);
    expect(await get('unicorn')).toEqual([400, fault('value_error.uuid')]);
    expect(await get('%zz')).toEqual([400, fault('value_error.url_encoding')]);
    expect(await get(randomUUID(), 'x')).toEqual([401, []]);
    expect((await get(`${randomUUID()}/more`))[0]).toBe(404);
  });
});
