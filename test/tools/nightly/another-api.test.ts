// "Another API from here" in CONTRIBUTING.md, followed in a copy of the project: the tools and the pipeline know the contract, and no
// payments. The API has a list, a POST, a GET by ID and an error of its own, and no webhooks.
import { createPrivateKey, randomUUID } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lintContract } from '../../../scripts/lint/contract.ts';
import { signToken } from '../../../server/kit/access/token.ts';
import { cloneProject } from '../../support/clone.ts';
import { compile } from '../../support/compiler.ts';
import { swap, type Workspace } from '../../support/contract-copy.ts';
import { newDataDir, type DataDir } from '../../support/data-dir.ts';
import { createTestDatabase } from '../../support/database.ts';
import { root, run, startCommand, startServer, type Child, type Server } from '../../support/processes.ts';

const contract = `openapi: 3.1.0
info:
  title: Bookings
  version: 1.0.0
  summary: Book a table
  description: Tables of restaurants.
  contact:
    name: Bookings team
    email: api@bookings.example
  license:
    name: Proprietary
    identifier: LicenseRef-Proprietary
servers:
  - url: http://127.0.0.1:8080
    description: Local sandbox
security:
  - BearerAuth: []
tags: []
paths: {}
components:
  securitySchemes:
    BearerAuth:
      $ref: ./components/securitySchemes/BearerAuth.yaml
`;

/** With the sections that the components link to which all APIs share. */
const introduction = ['Bookings', 'Authentication', 'Merchant accounts', 'Idempotency', 'Kinds of 422']
  .map((heading) => `# ${heading}\n\nSee [the list](#operation/listBookings).\n`)
  .join('\n');

/** By path within openapi/components. */
const ownError = {
  'responses/FullyBooked.yaml': `description: No table is free at that time.
headers:
  X-Request-ID:
    $ref: ../headers/RequestId.yaml
  Idempotency-Replayed:
    $ref: ../headers/IdempotencyReplayed.yaml
content:
  application/json:
    schema:
      $ref: ../schemas/ConflictError.yaml
    examples:
      fully_booked:
        $ref: ../examples/ErrorFullyBooked.yaml
`,
  'examples/ErrorFullyBooked.yaml': `summary: All tables are taken
value:
  type: error
  code: fully_booked
  status: 409
  message: No table is free
  details: []
  resource_id: null
`,
};

let made: Workspace;
const there = (command: string) => run('sh', ['-c', command], { cwd: made.folder });
const inCopy = (file: string) => join(made.folder, file);
const edit = async (file: string, change: (text: string) => string) => {
  await writeFile(inCopy(file), change(await readFile(inCopy(file), 'utf8').catch(() => '')));
};
const mustPass = async (command: string) => {
  const { status, output } = await there(command);
  expect(status, output).toBe(0);
};

beforeAll(async () => {
  made = await cloneProject();
  const guide = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8');
  const [, commands = 'false'] = /## Another API from here\n[^]*?```sh\n([^]*?)```/.exec(guide) ?? [];
  expect(await there(commands)).toMatchObject({ status: 0, output: '' });
  await writeFile(inCopy('openapi/openapi.yaml'), contract);
  await writeFile(inCopy('openapi/introduction.md'), introduction);
  for (const operation of ['GET /bookings', 'POST /bookings', 'GET /bookings/{booking_id}']) {
    const { status, output } = await there(`npm run -s new -- operation ${operation} --no-generate`);
    expect([status, output]).toEqual([0, expect.stringContaining('Generate what follows')]);
  }
  for (const [file, text] of Object.entries(ownError)) await edit(`openapi/components/${file}`, () => text);
  await edit(
    'openapi/paths/bookings.yaml',
    swap("    '422':", "    '409':\n      $ref: ../components/responses/FullyBooked.yaml\n    '422':"),
  );
  await edit('openapi/components/schemas/ErrorCode.yaml', (text) => `${text}  - fully_booked\n`);
}, 240_000);
afterAll(() => made[Symbol.asyncDispose]());

/** Where the lint finds breaches of a rule. */
const breaches = async (rule: string) =>
  (await lintContract(made.folder)).problems.filter((problem) => problem.rule === rule);

/** Deleting what nothing uses leaves others unused. */
async function deleteUnused(): Promise<void> {
  const unused = await breaches('house/no-orphans');
  for (const { file } of unused) await rm(inCopy(file));
  if (unused.length > 0) await deleteUnused();
}

it('the lint names what is left of payments, and accepts what new wrote', async () => {
  await deleteUnused();
  const codes = (await breaches('house/error-code')).map(({ line }) => line);
  expect(codes.length).toBeGreaterThan(0);
  await edit('openapi/components/schemas/ErrorCode.yaml', (text) =>
    text
      .split('\n')
      .filter((_, index) => !codes.includes(index + 1))
      .join('\n'),
  );
  await mustPass('npm run -s lint -- --contract');
  const files = await readdir(inCopy('openapi'), { recursive: true });
  expect(files.filter((file) => /payment|card|transaction|webhook/i.test(file))).toEqual([]);
});

it('generate derives tables, stubs and tests, and diff compares with the first release', async () => {
  await mustPass('npm run -s generate');
  expect((await readdir(inCopy('server/handlers'))).sort()).toEqual([
    ...['create-booking.ts', 'deps.ts', 'get-booking.ts', 'index.ts', 'list-bookings.ts'],
  ]);
  const tables = await readFile(inCopy('generated/operations.ts'), 'utf8');
  expect(tables).toContain('fully_booked: { status: 409, message: "No table is free" }');
  expect(tables).toContain('export const events = []');
  await mustPass('cp generated/openapi.json openapi/released/');
  await mustPass('npm run -s diff');
  await mustPass('npm run -s generate -- --check');
});

it('the compiler accepts what was generated, the stubs and their tests, and checks them', async () => {
  const tests = (await readdir(inCopy('test/service/operations'))).map(
    (name) => `test/service/operations/${name}`,
  );
  expect(tests).toHaveLength(3);
  const wrong = `import type { Handler } from '../contract/handler-types.ts';
export const wrong: Handler<'getBooking'> = ({ path }) =>
  Promise.resolve({ status: 200, body: { type: 'booking', id: path.booking_id, display_name: 1, created_at: '' } });
`;
  await edit('server/handlers/wrong.ts', () => wrong);
  const files = [
    ...tests,
    'server/handlers/index.ts',
    'server/handlers/wrong.ts',
    'mock/main.ts',
    'scripts/generate.ts',
  ];
  const faults = await compile(made.folder, files.map(inCopy), { extends: './tsconfig.json' });
  await rm(inCopy('server/handlers/wrong.ts'));
  const derived =
    /^(generated|scripts|server\/(contract|handlers)|test\/service|mock\/(?!outcomes\/|http\/pages\.ts))/;
  const found = faults
    .map(({ file, message }) => ({ file: file.slice(made.folder.length + 1), message }))
    .filter(({ file }) => derived.test(file));
  expect(found).toEqual([
    { file: 'server/handlers/wrong.ts', message: expect.stringContaining('display_name') as string },
  ]);
});

describe('the mock', () => {
  let mock: Child;
  let said: string;
  beforeAll(async () => {
    mock = startCommand('node', ['scripts/run.js', 'mock/main.ts', '--port', '0'], { cwd: made.folder });
    said = await new Promise((resolve, reject) => {
      mock.process.stdout.on('data', () => {
        if (/curl[^]*curl.*\n\n/.test(mock.stdout())) resolve(mock.stdout());
      });
      void mock.ended.then(({ output }) => {
        reject(new Error(output));
      });
    });
  });
  afterAll(async () => {
    mock.process.kill('SIGTERM');
    await mock.ended;
  });

  it('prints calls of this contract, which it answers from its examples', async () => {
    const calls = said.match(/curl .*/g) ?? [];
    const answers = await Promise.all(calls.map((call) => there(`${call} -s -w ' %{http_code}'`)));
    expect(calls).toEqual([
      expect.stringMatching(/\/bookings$/),
      expect.stringMatching(/code=422.*\/bookings$/),
    ]);
    expect(answers.map(({ stdout }) => stdout)).toEqual([
      expect.stringMatching(/^\{"items":\[\{"type":"booking",.*\} 200$/),
      expect.stringMatching(/^\{"detail":.*\} 422$/),
    ]);
  });

  it('has the error of its own', async () => {
    const url = /http:\S+/.exec(said)?.[0] ?? '';
    const headers = { Authorization: 'Bearer x', 'Content-Type': 'application/json', Prefer: 'code=409' };
    const body = JSON.stringify({ display_name: 'Jane' });
    const response = await fetch(`${url}/bookings`, { method: 'POST', headers, body });
    expect([response.status, await response.json()]).toMatchObject([409, { code: 'fully_booked' }]);
  });
});

describe('the service of stubs', () => {
  let dataDir: DataDir;
  let server: Server;
  let call: (path: string, body?: object) => Promise<[number, unknown]>;
  beforeAll(async () => {
    dataDir = await newDataDir();
    server = await startServer(
      { DATA_DIR: dataDir.path, DATABASE_URL: await createTestDatabase() },
      made.folder,
    );
    const key = createPrivateKey(await readFile(join(dataDir.path, 'sandbox-key.pem')));
    const token = signToken(key, ['bookings.read', 'bookings.write'], 3600);
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    call = async (path, body) => {
      const sent = body && { method: 'POST', body: JSON.stringify(body) };
      const response = await fetch(server.url + path, { headers, ...sent });
      return [response.status, await response.json()];
    };
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await dataDir[Symbol.asyncDispose]();
  });

  it('answers every operation with the example of the contract', async () => {
    const booking = { type: 'booking', display_name: 'First booking' };
    expect(await call('/bookings')).toMatchObject([200, { items: [booking] }]);
    expect(await call('/bookings', { display_name: 'Jane' })).toMatchObject([201, booking]);
    expect(await call(`/bookings/${randomUUID()}`)).toMatchObject([200, booking]);
  });

  it('refuses requests that break it, with pointers', async () => {
    const refused = (...details: object[]) => [400, { code: 'bad_request', details }];
    expect(await call('/bookings', { guests: 2 })).toMatchObject(
      refused(
        { location: 'body', pointer: '/display_name', type: 'value_error.missing' },
        { location: 'body', pointer: '/guests', type: 'value_error.extra' },
      ),
    );
    expect(await call('/bookings?limit=x')).toMatchObject(
      refused({ location: 'query', pointer: '/limit', type: 'type_error.integer' }),
    );
    expect(await call('/bookings/x')).toMatchObject(
      refused({ location: 'path', pointer: '/booking_id', type: 'value_error.uuid' }),
    );
    expect(await call('/transactions')).toMatchObject([404, { code: 'not_found' }]);
  });
});
