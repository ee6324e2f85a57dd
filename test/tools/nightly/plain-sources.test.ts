// The sources of the contract are plain OpenAPI: the usual tools read openapi/openapi.yaml as their manuals say, in a clone with our
// settings. Spectral is in spectral.test.ts.
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../support/ports.ts';
import { root, run, startCommand } from '../../support/processes.ts';

const notCloned = ['.git', '.cache', '.data', 'coverage', 'dist', 'node_modules', 'pages', 'site'];

/** With the files of the working tree. Tools write into it. */
let clone: string;
beforeAll(async () => {
  clone = await mkdtemp(join(tmpdir(), 'plain-sources-'));
  for (const name of await readdir(root))
    if (!notCloned.includes(name)) await cp(join(root, name), join(clone, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(clone, 'node_modules'), 'dir');
  await writeFile(join(clone, 'empty.yaml'), '');
});
afterAll(() => rm(clone, { recursive: true }));

const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
/** What `npx` would start. */
const program = (name: string) => join(clone, 'node_modules/.bin', name);

async function use(name: string, ...args: string[]): Promise<void> {
  const { status, output } = await run(program(name), args, { cwd: clone, env });
  expect(status, output).toBe(0);
}
const read = (file: string) => readFile(join(clone, file), 'utf8');

interface Contract {
  info: { description: string };
  paths: Record<string, Record<string, { operationId: string }>>;
  components: { examples: Record<string, { value: unknown }> };
}
const bundle = JSON.parse(await readFile(join(root, 'generated/openapi.json'), 'utf8')) as Contract;
const valueOf = (example: string) => bundle.components.examples[example]?.value;

/** What it answers at an address of its own, until the test is done with it. */
async function withPrism(args: string[], use: (address: string) => Promise<void>): Promise<void> {
  const port = await freePort();
  const prism = startCommand(program('prism'), [...args, '--port', String(port)], { cwd: clone });
  try {
    await new Promise<void>((resolve, reject) => {
      prism.process.stdout.on('data', () => {
        if (prism.stdout().includes('Prism is listening')) resolve();
      });
      void prism.ended.then(({ output }) => {
        reject(new Error(output));
      });
    });
    await use(`http://127.0.0.1:${port}`);
  } finally {
    prism.process.kill();
    await prism.ended;
  }
}
const headers = { Authorization: 'Bearer x', 'Content-Type': 'application/json' };

it('prism mock answers a list and a POST with the examples', () =>
  withPrism(['mock', 'openapi/openapi.yaml'], async (address) => {
    const list = await fetch(`${address}/transactions`, { headers });
    expect([list.status, await list.json()]).toEqual([200, valueOf('TransactionsFirstPage')]);
    const body = JSON.stringify(valueOf('PaymentMethodVisaSucceededRequest'));
    const stored = await fetch(`${address}/payment-methods`, { method: 'POST', headers, body });
    expect([stored.status, await stored.json()]).toEqual([201, valueOf('PaymentMethodVisaSucceeded')]);
  }));

it('prism proxy names what a server of somebody else breaks', async () => {
  const schemes = valueOf('CardSchemeDefinitionsAll') as { items: object[] };
  const [right, wrong] = [schemes, { items: schemes.items.map((item) => ({ ...item, id: 7 })) }];
  let shown: object = right;
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'X-Request-ID': 'a' });
    response.end(JSON.stringify(shown));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    await withPrism(['proxy', 'openapi/openapi.yaml', `http://127.0.0.1:${port}`], async (address) => {
      const violations = async () => {
        const answer = await fetch(`${address}/card-scheme-definitions`, { headers });
        await answer.arrayBuffer();
        return answer.headers.get('sl-violations');
      };
      expect(await violations()).toBeNull();
      shown = wrong;
      expect(await violations()).toContain('must be string');
    });
  } finally {
    server.close();
  }
});

describe.each(['redocly.yaml', 'empty.yaml'])('redocly with %s', (config) => {
  it('bundle makes what we publish, but for the introduction', async () => {
    await use('redocly', 'bundle', 'openapi/openapi.yaml', '--config', config, '-o', 'x.json');
    const made = JSON.parse(await read('x.json')) as Contract;
    made.info.description = bundle.info.description;
    expect(made).toEqual(bundle);
  });

  it('build-docs makes a page of all operations', async () => {
    await use('redocly', 'build-docs', 'openapi/openapi.yaml', '--config', config, '-o', 'x.html');
    const page = await read('x.html');
    expect(page.includes('.yaml#/')).toBe(false);
    const operations = Object.values(bundle.paths).flatMap((item) => Object.values(item));
    expect(operations.length).toBeGreaterThan(5);
    for (const { operationId } of operations)
      expect([operationId, page.includes(`"operationId":"${operationId}"`)]).toEqual([operationId, true]);
  });
});

/** When each file was changed. */
async function changesIn(folder: string): Promise<Map<string, number>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  return new Map(await Promise.all(files.map(async (file) => [file, (await stat(file)).mtimeMs] as const)));
}

it.each(['openapi/openapi.yaml', 'generated/openapi.json'])(
  'openapi-typescript %s writes our types, and no other file',
  async (source) => {
    await rm(join(clone, 'x.ts'), { force: true });
    const before = await changesIn(clone);
    await use('openapi-typescript', source, '-o', 'x.ts', '--alphabetize', '--default-non-nullable=false');
    const written = [...(await changesIn(clone))].filter(([file, time]) => before.get(file) !== time);
    expect(written.map(([file]) => basename(file))).toEqual(['x.ts']);
    const withoutBanner = (text: string) => text.slice(text.indexOf('export interface paths'));
    // Without both texts in the message.
    expect(withoutBanner(await read('x.ts')) === withoutBanner(await read('generated/types.ts'))).toBe(true);
  },
);
