// "Another API from here" in CONTRIBUTING.md, followed in a copy of the project with the API of test/fixtures/bookings: tools, mock, kit and
// composition serve it, and no file of theirs is edited.
import { cp, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cloneProject } from '../../support/clone.ts';
import type { Workspace } from '../../support/contract-copy.ts';
import { newDataDir, type DataDir } from '../../support/data-dir.ts';
import { createEmptyDatabase, query } from '../../support/database.ts';
import { root, run, startCommand, type Child } from '../../support/processes.ts';
import { testsThere } from '../../support/recipes.ts';

const fixture = join(root, 'test/fixtures/bookings');

let made: Workspace;
const there = (command: string) => run('sh', ['-c', command], { cwd: made.folder });
const inCopy = (file: string) => join(made.folder, file);
const mustPass = async (command: string) => {
  const { status, output } = await there(command);
  expect(status, output).toBe(0);
  return output;
};

beforeAll(async () => {
  made = await cloneProject();
  const guide = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8');
  const [, removal = 'false'] = /## Another API from here\n[^]*?```sh\n([^]*?)```/.exec(guide) ?? [];
  await mustPass('git init -q && git add -A && git -c user.name=x -c user.email=x@y.example commit -qm all');
  await mustPass(removal);
  await cp(fixture, made.folder, { recursive: true });
});
afterAll(() => made[Symbol.asyncDispose]());

it('at most 300 lines of TypeScript are by hand, without tests and what new writes', async () => {
  const files = await readdir(fixture, { recursive: true });
  const own = files.filter((file) => file.endsWith('.ts') && !file.startsWith('test/'));
  const counts = await Promise.all(
    own.map(async (file) => (await readFile(join(fixture, file), 'utf8')).split('\n').length - 1),
  );
  // Of these, `new -- table` has written 130: table, facts, queries, changes, the migration and three handlers.
  expect(counts.reduce((sum, count) => sum + count, 0) - 130).toBeLessThanOrEqual(300);
});

it('the lint deletes what was of payments, and accepts the rest', async () => {
  await mustPass('npm run -s lint -- --contract --delete-unused');
  const files = await readdir(inCopy('openapi'), { recursive: true });
  expect(files.filter((file) => /payment|card|transaction|buyer/i.test(file))).toEqual([]);
});

it('the compiler accepts service, mock, scripts and tests, and the client knows the operations', async () => {
  await mustPass('npm run -s generate');
  await writeFile(
    inCopy('scripts/bookings.ts'),
    `import { createBookingsClient } from '../client/index.ts';
const client = createBookingsClient({ baseUrl: '', token: '' });
const { data } = await client.GET('/bookings', { params: { query: { status: 'booked' } } });
export const name: string | undefined = data?.items[0]?.display_name;
// @ts-expect-error There is no such status.
await client.GET('/bookings', { params: { query: { status: 'paid' } } });
`,
  );
  await mustPass('npm run -s lint -- --types');
});

it('diff compares with the first release', async () => {
  await mustPass('mkdir openapi/released && cp generated/openapi.json openapi/released/ && npm run -s diff');
});

it('the docs are built once the links to what is gone are cut', async () => {
  const { output } = await there('npm run -s docs');
  const broken = [...output.matchAll(/Broken link in (\S+): (\S+)/g)];
  expect(broken.length).toBeGreaterThan(5);
  for (const [, file = '', href = ''] of broken) {
    const text = await readFile(inCopy(file), 'utf8');
    const end = href.replace('#section/', 'introduction.md#');
    await writeFile(
      inCopy(file),
      text.replaceAll(/\[([^\][]*)\]\(([^)]*)\)/g, (link, words: string, to: string) =>
        to.endsWith(end) ? words : link,
      ),
    );
  }
  await mustPass('npm run -s docs');
  const pages = await readdir(inCopy('site'), { recursive: true });
  expect(pages.filter((page) => page.endsWith('create-booking.html'))).toHaveLength(1);
});

it('npm test', async () => {
  const { status, output } = await testsThere(made.folder);
  expect(status, output).toBe(0);
});

/** Resolves with what the program says until it has printed this. */
const printed = (child: Child, pattern: RegExp) =>
  new Promise<string>((resolve, reject) => {
    const look = () => {
      if (pattern.test(child.stdout())) resolve(child.stdout());
    };
    look();
    child.process.stdout.on('data', look);
    void child.ended.then(({ output }) => {
      reject(new Error(output));
    });
  });

const start = (script: string, env: Record<string, string> = {}, args: string[] = []) =>
  startCommand('node', ['scripts/run.js', script, ...args], { cwd: made.folder, env: { PORT: '0', ...env } });

const answer = async (response: Response): Promise<[number, unknown]> => [
  response.status,
  await response.json(),
];

describe('the mock', () => {
  let mock: Child;
  let url: string;
  let said: string;
  beforeAll(async () => {
    mock = start('mock/main.ts');
    said = await printed(mock, /curl[^]*curl.*\n\n/);
    url = /http:\S+/.exec(said)?.[0] ?? '';
  });
  afterAll(async () => {
    mock.process.kill('SIGTERM');
    await mock.ended;
  });
  const get = async (path: string) =>
    answer(await fetch(url + path, { headers: { Authorization: 'Bearer x' } }));

  it('prints calls of this contract, which it answers', async () => {
    const calls = said.match(/curl .*/g) ?? [];
    const answers = await Promise.all(calls.map((call) => mustPass(`${call} -s -w ' %{http_code}'`)));
    expect(answers).toEqual([
      expect.stringMatching(/^\{"items":.* 200$/),
      expect.stringMatching(/^\{"type":"error",.* 4\d\d$/),
    ]);
  });

  it('calls itself by its own name', () => {
    expect(said).toMatch(/^\nMock of the bookings service: /);
    expect(said).not.toMatch(/payment/i);
  });

  it('filters the list', async () => {
    expect(await get('/bookings?status=booked')).toMatchObject([200, { items: [{ type: 'booking' }] }]);
    expect(await get('/bookings?status=cancelled')).toMatchObject([200, { items: [] }]);
  });
});

describe('npm start', () => {
  let dataDir: DataDir;
  let server: Child;
  let databaseUrl: string;
  let said: string;
  beforeAll(async () => {
    dataDir = await newDataDir();
    databaseUrl = await createEmptyDatabase();
    server = start('server/main.ts', { DATA_DIR: dataDir.path, DATABASE_URL: databaseUrl });
    said = await printed(server, /"msg":"listening"/);
  });
  afterAll(async () => {
    server.process.kill('SIGTERM');
    await server.ended;
    await dataDir[Symbol.asyncDispose]();
  });

  it('calls itself by its own name: to people, to PostgreSQL, and as a command', async () => {
    expect(said).toMatch(/^Bookings service, sandbox: /m);
    expect(said).toMatch(/npm run -s bookings -- token/);
    const help = await mustPass('npm run -s bookings -- --help');
    expect(help).toMatch(/^Usage: bookings /m);
    // Its data is in a folder of the test.
    expect(said.replaceAll(dataDir.path, '') + help).not.toMatch(/payment/i);
    const connected = `select distinct split_part(application_name, ' ', 1) as name from pg_stat_activity where datname = current_database()`;
    expect(await query(databaseUrl, connected)).toContainEqual({ name: 'bookings-service' });
  });

  it('prints a call, which answers 200', async () => {
    const [command = 'false'] = /curl [^]*?\/bookings$/m.exec(said) ?? [];
    expect(await mustPass(`${command} -s -w ' %{http_code}'`)).toMatch(/^\{"items":\[\].*\} 200$/);
  });

  it('creates, repeats, refuses, cancels, and keeps an event', async () => {
    const url = /"url":"([^"]+)"/.exec(said)?.[1] ?? '';
    const token = await mustPass(
      `DATA_DIR=${dataDir.path} npm run -s bookings -- token --scopes '*.read,*.write'`,
    );
    const headers = { Authorization: `Bearer ${token.trim()}`, 'Content-Type': 'application/json' };
    const post = (path: string, body?: object, more: Record<string, string> = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { ...headers, ...more },
        ...(body && { body: JSON.stringify(body) }),
      });
    const times = { starts_at: '2030-11-20T09:00:00.000Z', ends_at: '2030-11-20T10:00:00.000Z' };
    const room_id = '0a1b2c3d-0001-4000-8000-000000000001';
    const booking = { room_id, display_name: 'Jane Doe', ...times };
    const key = { 'Idempotency-Key': 'once' };

    const first = await post('/bookings', booking, key);
    const again = await post('/bookings', booking, key);
    expect([first.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    const { id } = (await first.json()) as { id: string };
    expect(await again.json()).toMatchObject({ id, ...booking, status: 'booked' });
    expect(await answer(await post('/bookings', booking))).toMatchObject([
      409,
      { code: 'room_taken', resource_id: id },
    ]);
    expect(await answer(await post('/bookings', { ...booking, ends_at: times.starts_at }))).toMatchObject([
      422,
      { detail: [{ type: 'value_error.order' }] },
    ]);
    expect(await answer(await post(`/bookings/${id}/cancel`))).toMatchObject([
      200,
      { id, status: 'cancelled' },
    ]);
    const found = await fetch(`${url}/bookings?status=cancelled&room_id=${room_id}`, { headers });
    expect(await answer(found)).toMatchObject([200, { items: [{ id }] }]);
    expect(await query(databaseUrl, 'select name from events')).toEqual([{ name: 'booking.created' }]);
    expect(await query(databaseUrl, "select slug from roles where slug = 'front-desk'")).toHaveLength(1);
  });

  it('webhooks listen prints a call, which causes an event', async () => {
    const env = { DATA_DIR: dataDir.path, DATABASE_URL: databaseUrl };
    const listener = start('server/cli/main.ts', env, ['webhooks', 'listen']);
    try {
      const [command = 'false'] =
        /curl -X [^]*?'\n(?=\n|$)/.exec(await printed(listener, /curl -X [^]*-d/)) ?? [];
      expect(await mustPass(`${command.trim()} -s`)).toMatch(/^\{"type":"booking"/);
      await printed(listener, /booking\.created[^]*booking\.created/);
    } finally {
      listener.process.kill('SIGINT');
      await listener.ended;
    }
  });

  it('an older instance leaves a later migration of the kit alone', async () => {
    const later = `insert into applied_migrations (name, digest) values ('kit-9998-later', '')`;
    await query(databaseUrl, later);
    const env = { DATA_DIR: dataDir.path, DATABASE_URL: databaseUrl };
    const older = start('server/main.ts', env);
    const told = await printed(older, /"msg":"listening"/);
    older.process.kill('SIGTERM');
    await older.ended;
    expect(told).toMatch(/"last":"kit-9998-later"/);
  });
});
