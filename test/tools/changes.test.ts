// Two recipes of the guide for backend engineers, replayed in one copy of the project: an operation with its table, and a field.
// `npm run new` writes both, `npm run generate` the rest, and the service then serves them. An error code, an event or a filter
// needs no test here: the compiler and the lint name what is missing.
import { createPrivateKey, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { check as isFormatted, resolveConfig } from 'prettier';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMock } from '../../mock/mock.ts';
import { bundleContract } from '../../scripts/generate/bundle.ts';
import { generate, type Outcome } from '../../scripts/generate/generate.ts';
import { planOf, readCall } from '../../scripts/new/call.ts';
import { carryOut } from '../../scripts/new/plan.ts';
import { root } from '../../scripts/support/root.ts';
import { signToken } from '../../server/kit/access/token.ts';
import { compileInto } from '../support/compile.ts';
import { compile } from '../support/compiler.ts';
import { brokenProject, swap, type Workspace } from '../support/contract-copy.ts';
import { newDataDir, type DataDir } from '../support/data-dir.ts';
import { createTestDatabase } from '../support/database.ts';
import { runNode, startServer, type Ended, type Server } from '../support/processes.ts';

/** The row of the guide's table "What a change needs", and the call of `npm run new` that writes what it names. */
const changes = [
  ['operation with a new table', 'table refund_reasons --erasure display_name=kept'],
  ['field of a stored resource', 'field shipped_at --in Transaction --type date-time --erasure kept'],
] as const;

const designed = [
  'operation GET /buyer-notes/{note_id}',
  'operation GET /buyers/{buyer_id}',
  'operation POST /refund-reasons',
  'operation GET /refund-reasons/{reason_id}',
  'operation GET /refund-reasons',
  'operation DELETE /refund-reasons/{reason_id}',
  'operation PATCH /refund-reasons/{reason_id}',
  'action retire --on RefundReason',
  'event refund-reason.created',
];
const built = [...changes.map(([, call]) => call), 'field severity --in RefundReason --values minor,major'];

let made: Workspace;
/** The compiler errors of a file. */
let compiled: (file: string) => string;
/** `generate --check`, and `generate`. */
let stale: Outcome;
let fresh: Outcome;
/** What `npm run new` said, and which files each call wrote. */
let said: Ended;
const writtenBy = new Map<string, string[]>();

const edit = async (path: string, change: (text: string) => string) => {
  const file = join(made.folder, path);
  await writeFile(file, change(await readFile(file, 'utf8').catch(() => '')));
};
const create = (...args: string[]) => runNode('scripts/new.ts', args, { cwd: made.folder });

beforeAll(async () => {
  made = await brokenProject({});
  for (const part of ['server', 'client', 'mock', 'generated', 'tsconfig.json', 'test/support'])
    await cp(join(root, part), join(made.folder, part), { recursive: true });
  await cp(join(root, 'test/service/operations'), join(made.folder, 'test/service/operations'), {
    recursive: true,
  });
  // A handler that somebody has edited, and one whose operation is gone.
  await edit('server/handlers/list-transactions.ts', (text) => `// mine\n${text}`);
  await edit('server/handlers/list-unicorns.ts', () => 'export {};\n');
  // One as people call it, the others without starting a process for each.
  said = await create('operation', 'GET', '/buyer-notes', '--no-generate');
  for (const call of designed) await carry(call);
  for (const call of built) await carry(call);
  const bundled = await bundleContract(made.folder);
  if ('fault' in bundled) throw new Error(bundled.fault);
  stale = await generate(made.folder, { check: true, bundled });
  fresh = await generate(made.folder, { bundled });
  await followGuide();
  await edit('client/use.ts', () => clientUse);
  compiled = await diagnose();
}, 300_000);
afterAll(() => made[Symbol.asyncDispose]());

async function carry(call: string): Promise<void> {
  const plan = await planOf(made.folder, readCall(call.split(' ')));
  expect(plan.next.length).toBeGreaterThan(1);
  writtenBy.set(call, await carryOut(made.folder, plan));
}

/** "A path parameter" and "Records in a test": handler, query and test of an operation, with the code of the guide. */
async function followGuide(): Promise<void> {
  const guide = await readFile(join(root, 'docs/guides/backend-engineer.md'), 'utf8');
  const blocks = (heading: string, kind: string) => {
    const section = guide.slice(guide.indexOf(`### ${heading}\n`)).split('\n### ')[0] ?? '';
    return [...section.matchAll(new RegExp(`\`\`\`${kind}\n([^]*?)\`\`\``, 'g'))].map(
      ([, code = '']) => code,
    );
  };
  const [handler = ''] = blocks('A path parameter', 'ts');
  const [query = ''] = blocks('A path parameter', 'diff');
  const [test = ''] = blocks('Records in a test', 'ts');
  await edit('server/handlers/get-buyer.ts', () => handler);
  await edit('test/service/operations/get-buyer.test.ts', () => test);
  const [, file = '', kept = '', added = ''] = /^# (\S+)\n (.*\n)([^]*)/.exec(query) ?? [];
  await edit(file, swap(kept, kept + added.replace(/^\+/gm, '')));
}

const clientUse = `import { unwrap, type PaymentsClient } from './index.ts';
const params = { path: { reason_id: 'x' } };
export const remove = async (client: PaymentsClient): Promise<undefined> =>
  unwrap(await client.DELETE('/refund-reasons/{reason_id}', { params }));
export const rename = async (client: PaymentsClient): Promise<string> =>
  unwrap(await client.PATCH('/refund-reasons/{reason_id}', { params, body: { display_name: 'x' } })).display_name;
`;

async function diagnose(): Promise<(file: string) => string> {
  const all = await readdir(made.folder, { recursive: true });
  // The tables, because nobody imports the types of all of them.
  const tests = /^test\/service\/operations\/(get-buyer|[\w-]+-refund-reasons?|get-buyer-note)\.test\.ts$/;
  const isRead = (name: string) =>
    /^server\/.*table\.ts$/.test(name) ||
    tests.test(name) ||
    ['server/handlers/index.ts', 'client/use.ts'].includes(name);
  const files = all.filter(isRead).map((name) => join(made.folder, name));
  const faults = await compile(made.folder, files, { extends: './tsconfig.json' });
  return (name) =>
    faults
      .filter(({ file }) => file === join(made.folder, name))
      .map(({ message }) => message)
      .join('\n');
}

describe('npm run generate', () => {
  it('--check names every file that is out of date and the command to run', () => {
    expect(stale.ok).toBe(false);
    expect(stale.message).toMatch(
      /^Out of date: .*generated\/operations\.ts, .*server\/migrations\/index\.ts/m,
    );
    expect(stale.message).toContain('server/handlers/get-buyer-note.ts');
    expect(stale.message).toContain('Run: npm run generate');
  });

  it('writes a stub for the new operation, touches no existing handler, and reports the orphan', async () => {
    const handler = (name: string) => readFile(join(made.folder, `server/handlers/${name}.ts`), 'utf8');
    const orphan = 'server/handlers/list-unicorns.ts names no operation';
    expect(fresh).toMatchObject({ ok: true, warnings: [expect.stringContaining(orphan)] });
    // --check has not written it.
    expect(fresh.message).toContain('server/handlers/get-buyer-note.ts');
    expect(await handler('list-transactions')).toMatch(/^\/\/ mine\n/);
    expect(await handler('get-buyer-note')).toContain("Handler<'getBuyerNote', Deps>");
    // What `npm run new -- table` has implemented is not listed as to do.
    const test = (name: string) =>
      readFile(join(made.folder, `test/service/operations/${name}.test.ts`), 'utf8');
    expect(await test('get-buyer-note')).toContain('implement server/handlers/get-buyer-note.ts');
    expect(await test('get-refund-reason')).not.toContain('todo:');
  });
});

describe('the guide', () => {
  it.each(changes)('names every file of the change "%s", and no other', async (name, call) => {
    const guide = await readFile(join(root, 'docs/guides/backend-engineer.md'), 'utf8');
    const row = guide.split('\n').find((line) => line.startsWith(`| ${name} `)) ?? '';
    const places = [...row.matchAll(/`([\w-]+\/[^`]+)`/g)].map(([, place = '']) => place);
    const pattern = (place: string) =>
      new RegExp(
        `^${place.replace(/\./g, '\\.').replace(/<[^>]+>/g, '[^/]+')}${place.endsWith('/') ? '' : '$'}`,
      );
    const files = writtenBy.get(call) ?? [];
    expect(places.length).toBeGreaterThan(2);
    expect(files.filter((file) => !places.some((place) => pattern(place).test(file)))).toEqual([]);
    expect(places.filter((place) => !files.some((file) => pattern(place).test(file)))).toEqual([]);
  });
});

it('the mock serves the new operations, from their examples', async () => {
  const mock = await startMock({ port: 0, contractFile: join(made.folder, 'generated/openapi.json') });
  try {
    const headers = { Authorization: 'Bearer anything' };
    const reason = await fetch(`${mock.url}/refund-reasons/${randomUUID()}`, { headers });
    expect(await reason.json()).toMatchObject({ type: 'refund-reason', severity: 'minor' });
    const page = await fetch(`${mock.url}/buyer-notes`, { headers });
    const note = { type: 'buyer-note', display_name: 'First buyer note' };
    expect(await page.json()).toMatchObject({ items: [note], next_cursor: null });
    expect((await fetch(`${mock.url}/buyer-notes?unicorn=1`, { headers })).status).toBe(400);
    expect(await methodsFor(mock.url)).toBe('DELETE, GET, PATCH, POST');
  } finally {
    await mock.close();
  }
});

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
    expect(said.output).toMatch(/^✓ openapi\/openapi\.yaml$/m);
    expect(said.output).toMatch(/^✓ openapi\/components\/schemas\/BuyerNoteCollection\.yaml$/m);
    expect(said.output).toContain('npm test -- list-buyer-notes');
    expect(said.output).toContain('the tag "Buyer notes" in openapi/openapi.yaml');
  });

  it('writes what passes the lint: house rules, format and types', async () => {
    // bundleContract refuses a contract that breaks a house rule.
    expect(fresh.ok).toBe(true);
    const written = [...writtenBy.values(), 'server/handlers/get-buyer-note.ts'].flat();
    const style = await resolveConfig(join(root, 'package.json'));
    for (const file of written.filter((one) => one !== 'server/resources/buyers/queries.ts')) {
      const text = await readFile(join(made.folder, file), 'utf8');
      expect([file, await isFormatted(text, { ...style, filepath: file })]).toEqual([file, true]);
      expect([file, compiled(file)]).toEqual([file, '']);
    }
    for (const file of ['server/handlers/index.ts', 'server/handlers/get-buyer.ts', 'client/use.ts'])
      expect([file, compiled(file)]).toEqual([file, '']);
    for (const name of ['get-buyer', 'get-buyer-note', 'list-refund-reasons', 'update-refund-reason']) {
      const file = `test/service/operations/${name}.test.ts`;
      expect([existsSync(join(made.folder, file)), compiled(file)]).toEqual([true, '']);
    }
  });

  it('keeps every line of openapi.yaml, comments included', async () => {
    const lines = (await readFile(join(made.folder, 'openapi/openapi.yaml'), 'utf8')).split('\n');
    const before = (await readFile(join(root, 'openapi/openapi.yaml'), 'utf8')).split('\n');
    let from = 0;
    for (const line of before) {
      from = lines.indexOf(line, from) + 1;
      expect([line, from > 0]).toEqual([line, true]);
    }
  });

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

  it('stores, finds and lists the records of a new table, and shows the new field of the old ones', async () => {
    const id = await createReason();
    const found = await request(`/refund-reasons/${id}`);
    expect([found.status, await found.json()]).toEqual([200, expect.objectContaining({ id })]);
    const listed = (await (await request('/refund-reasons')).json()) as { items: { id: string }[] };
    expect(listed.items.map((item) => item.id)).toContain(id);
    expect((await request(`/refund-reasons/${randomUUID()}`)).status).toBe(404);
    const shown = await (await request('/transactions?limit=1')).json();
    expect(shown).toMatchObject({ items: [{ shipped_at: null }] });
  });

  it('answers a deletion without a body, also to the client and to other origins', async () => {
    expect(await methodsFor(server.url)).toBe('DELETE, GET, PATCH, POST');
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
      const response = await request(`/buyer-notes/${id}`, bearer);
      const { details } = (await response.json()) as { details?: { message: string }[] };
      const told = details?.map(({ message: _message, ...rest }) => rest);
      return [response.status, told ?? response.headers.get('X-Contract-Example')];
    };
    const fault = (type: string) => [{ location: 'path', pointer: '/note_id', type }];
    expect(await get(randomUUID())).toEqual([200, expect.any(String)]);
    expect(await get('unicorn')).toEqual([400, fault('value_error.uuid')]);
    expect(await get('%zz')).toEqual([400, fault('value_error.url_encoding')]);
    expect(await get(randomUUID(), 'x')).toEqual([401, []]);
    expect((await get(`${randomUUID()}/more`))[0]).toBe(404);
  });
});
