// `npm run dev` in a copy of the project, with real saves. One process for all of it, because its start takes longest; so each
// test goes on where the one before has ended.
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signToken } from '../../server/kit/access/token.ts';
import { eventually, processesOn } from '../support/data-dir.ts';
import { createTestDatabase } from '../support/database.ts';
import { freePort } from '../support/ports.ts';
import { root, runNode, startNode, type Child } from '../support/processes.ts';

const parts = [
  ...['openapi', 'generated', 'server', 'client', 'mock', 'testing', 'scripts', 'docs', 'test'],
  ...['redocly.yaml', 'package.json', 'tsconfig.json', 'vitest.config.ts', 'CHANGELOG.md', 'LICENSE'],
  // Built by test/support/global.ts.
  ...['site', 'pages'],
];

describe('npm run dev', () => {
  let folder: string;
  let dev: Child;
  let mockPort: number;
  let env: Record<string, string>;
  let [service, mock] = ['', ''];
  /** Where the output of the present test begins. */
  let mark = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'payments-dev-'));
    await Promise.all(parts.map((part) => cp(join(root, part), join(folder, part), { recursive: true })));
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
    original = await readFile(join(folder, handler), 'utf8');
    const servicePort = await freePort();
    mockPort = await freePort();
    [service, mock] = [`http://127.0.0.1:${servicePort}`, `http://127.0.0.1:${mockPort}`];
    env = {
      PORT: String(servicePort),
      MOCK_PORT: String(mockPort),
      DATA_DIR: join(folder, 'data'),
      DATABASE_URL: await createTestDatabase('template'),
    };
  });
  afterAll(async () => {
    dev.process.kill('SIGKILL');
    await dev.ended;
    await rm(folder, { recursive: true, force: true });
  });

  const output = () => dev.output().slice(mark);
  const times = (text: string | RegExp) => output().split(text).length - 1;
  const prints = (text: string) =>
    eventually(
      () => output().includes(text) || dev.process.exitCode !== null,
      () => `it prints ${text}, instead of:\n${output()}`,
      100,
    );

  const file = (name: string) => join(folder, 'openapi', name);
  async function save(name: string, from: string, to: string): Promise<void> {
    const text = await readFile(file(name), 'utf8');
    expect(text).toContain(from);
    await writeFile(file(name), text.replace(from, to));
  }
  const handler = 'server/handlers/list-card-scheme-definitions.ts';
  const present = 'presentCardScheme(id, publicUrl)';
  let original: string;
  /** Differs from the original in this alone. */
  const saveHandler = (from: string, to: string) => {
    expect(original).toContain(from);
    return writeFile(join(folder, handler), original.replace(from, to));
  };
  const call = async (path: string) => {
    const key = createPrivateKey(await readFile(join(folder, 'data', 'sandbox-key.pem')));
    return fetch(service + path, { headers: { Authorization: `Bearer ${signToken(key, ['*.read'], 60)}` } });
  };
  const statusOf = async (path: string) => (await call(path)).status;
  /** By the service, the mock and the docs. */
  const served = (words: string) =>
    Promise.all(
      [`${service}/openapi.json`, `${mock}/openapi.json`, `${service}/docs/reference.html`].map(async (url) =>
        (await (await fetch(url)).text()).includes(words),
      ),
    );

  it('serves the API and the docs, and says that the port of the mock is taken', async () => {
    const other = createServer().listen(mockPort, '127.0.0.1');
    await once(other, 'listening');
    dev = startNode('scripts/dev.ts', [], { cwd: folder, env });
    await prints('Waiting for changes');
    other.close();
    expect(output()).toContain('✓ 0 problems in the contract, and the code compiles');
    expect(output()).toMatch(
      /Mock {4}Port \d+ \(from MOCK_PORT\) is taken\. Choose another: MOCK_PORT=\d+\n/,
    );
  });

  it('shows refused and failed requests as npm start does on a terminal, and no others', async () => {
    mark = dev.output().length;
    await saveHandler(present, `{ if (id) throw new Error('boom'); return ${present}; }`);
    await prints('Waiting for changes');
    expect(output()).toContain(`API     ${service}\n  Docs    ${service}/docs/\n  Mock    ${mock}\n`);
    expect(await statusOf('/transactions')).toBe(200);
    expect(await statusOf('/transactions?unicorn=1')).toBe(400);
    expect(await statusOf('/card-scheme-definitions')).toBe(500);
    await prints('Error: boom');
    expect(output().match(/INFO: .*/g)).toEqual([
      expect.stringMatching(/^INFO: GET \/transactions 400 bad_request .*unicorn/),
    ]);
    expect(output()).toMatch(
      /ERROR: the request failed .*"operation":"listCardSchemeDefinitions"[^]* Error: boom\n +at .*server\/handlers\/list-card-scheme-definitions\.ts:13:/,
    );
  });

  it('serves code whose types are wrong, and shows the errors of the compiler', async () => {
    mark = dev.output().length;
    await saveHandler('status: 200', 'status: 202');
    await prints('Waiting for changes');
    expect(output()).toMatch(
      /^server\/handlers\/list-card-scheme-definitions\.ts:\d+:\d+ error TS\d+: [^]*^✗ The code does not compile\. It is served/m,
    );
    expect(output()).toContain("'202'");
    expect(output()).not.toMatch(/✓|compiles/);
  });

  it('lets the service answer until the new one has started, and go on if that fails', async () => {
    mark = dev.output().length;
    const waiting: ServerResponse[] = [];
    const gate = createHttpServer((_req, res) => void waiting.push(res)).listen(0, '127.0.0.1');
    await once(gate, 'listening');
    const { port } = gate.address() as AddressInfo;
    await saveHandler('const schemes', `await fetch('http://127.0.0.1:${port}');\nconst schemes`);
    await once(gate, 'request');
    // The handler of before.
    expect(await statusOf('/card-scheme-definitions')).toBe(500);
    waiting[0]?.end();
    await prints('✓ 0 problems in the contract, and the code compiles');
    gate.close();
    expect(await statusOf('/card-scheme-definitions')).toBe(200);

    mark = dev.output().length;
    await saveHandler('const schemes', "throw new Error('no start');\nconst schemes");
    await prints('Waiting for changes');
    expect(output()).toContain('Error: no start');
    expect(output()).toContain('✗ The last state without problems is still served.');
    expect(await statusOf('/card-scheme-definitions')).toBe(200);

    mark = dev.output().length;
    await saveHandler('', '');
    await prints('✓ 0 problems');
  });

  it('shows a problem once, and goes on serving the last state without problems', async () => {
    mark = dev.output().length;
    await save('paths/transactions.yaml', 'operationId: listTransactions', 'operationid: listTransactions');
    await save('paths/transactions.yaml', 'summary: List transactions', 'summary: List the first');
    await prints('Waiting for changes');
    expect(times('Property `operationid` is not expected here.')).toBe(1);
    expect(output()).toContain('openapi/paths/transactions.yaml:2:3');
    expect(output()).toContain('The last state without problems is still served.');
    expect(output()).not.toMatch(/generate-ignore-file|npm run generate|Wrote|served after|✓|unfinished/);
    expect(await served('List transactions')).toEqual([true, true, true]);
    expect(await served('List the first')).toEqual([false, false, false]);
  });

  it('leaves `npm run new` nothing to generate', async () => {
    mark = dev.output().length;
    const { status, output: said } = await runNode('scripts/new.ts', ['operation', 'GET', '/unicorns'], {
      cwd: folder,
    });
    expect([status, said]).toEqual([0, expect.stringContaining('npm run dev is running: it generates')]);
    await prints('Waiting for changes');
  });

  it('collects saves that fix it, cancels what is overtaken, and serves all of it everywhere', async () => {
    mark = dev.output().length;
    await save('paths/transactions.yaml', 'operationid: listTransactions', 'operationId: listTransactions');
    await save('paths/api-key-pairs.yaml', 'summary: List', 'summary: List all');
    await prints('Updating …');
    await save('paths/transactions.yaml', 'summary: List the first', 'summary: List the second');
    await save('paths/transactions.yaml', 'description: |-\n', 'description: |-\n    In plain words.\n');
    await prints('Waiting for changes');
    expect([times('Updating …'), times('Checking the types …')]).toEqual([2, 1]);
    expect(output()).not.toContain('operationid');
    expect(output()).toMatch(/✓ 0 problems in the contract[^]* To do {3}\d unfinished places: npm run lint/);
    expect(output()).toMatch(
      /^ {2}Wrote {3}generated\/ \(\d files\), .*server\/handlers\/list-unicorns\.ts/m,
    );
    for (const words of ['List the second', 'unicorns'])
      expect(await served(words)).toEqual([true, true, true]);
    // The page of the docs has no descriptions; its script has.
    expect((await served('In plain words.')).slice(0, 2)).toEqual([true, true]);
  });

  it('ends everything that it started with Ctrl+C', async () => {
    expect((await processesOn(folder)).length).toBeGreaterThan(2);
    dev.process.kill('SIGINT');
    const { status } = await dev.ended;
    expect([status, await processesOn(folder)]).toEqual([0, []]);
  });
});
