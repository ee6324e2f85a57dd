// `payments start`: the sandbox in any folder, and as the child of a program, which holds its standard input.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newDataDir, nothingRunsOn, processesOn } from '../support/data-dir.ts';
import { isListening } from '../support/ports.ts';
import { createPayments, startPayments, type Env } from '../support/processes.ts';

interface Facts {
  url: string;
  key_file: string;
  data_dir: string;
  error?: string;
}

/** A sandbox as a program has it that speaks lines of JSON. */
function startJson(args: string[] = ['--data', 'temporary'], env: Env = {}) {
  const child = startPayments(['start', '--json', '--port', '0', ...args], env);
  const lines = createInterface({ input: child.process.stdout })[Symbol.asyncIterator]();
  const read = async () => JSON.parse(String((await lines.next()).value)) as Facts;
  const ask = (command: string) => {
    child.process.stdin.write(`${command}\n`);
    return read();
  };
  onTestFinished(async () => {
    child.process.stdin.end();
    await child.ended;
  });
  return { ...child, read, ask, dismiss: () => child.process.stdin.end() };
}

const tokenFor = async ({ key_file }: Facts) => {
  const { stdout } = await createPayments()(['token', '--scopes', '*.read,*.write', '--key', key_file]);
  return stdout.trim();
};

const caller =
  ({ url }: Facts, token: string) =>
  async (path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, {
      method: body ? 'POST' : 'GET',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

const card = (number = '4111111111111111') => ({ method: 'card', number, expiration_date: '12/39' });

async function startReceiver(answer: () => Promise<number>) {
  const events: string[] = [];
  const server = createServer((req, res) => {
    events.push(String(req.headers['webhook-id']));
    void answer().then((status) => res.writeHead(status).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, events };
}

describe('payments start --json', () => {
  it('prints one line when it is ready, and leaves nothing when its standard input ends', async () => {
    const sandbox = startJson();
    const facts = await sandbox.read();
    expect(Object.keys(facts)).toEqual(['url', 'key_file', 'data_dir']);
    const call = caller(facts, await tokenFor(facts));
    expect((await call('/transactions?limit=1')).status).toBe(200);
    expect(await sandbox.ask('unicorn')).toEqual({ error: 'There is no command "unicorn": only reset.' });
    sandbox.dismiss();
    expect(await sandbox.ended).toMatchObject({ status: 0, stderr: '' });
    expect(existsSync(facts.data_dir)).toBe(false);
    await nothingRunsOn(facts.data_dir);
  });

  it('ends at once, with nothing left, if there is no standard input', async () => {
    const scratch = await mkdtemp(join(tmpdir(), 'no-input-'));
    await chmod(scratch, 0o777);
    const sandbox = startJson(undefined, { TMPDIR: scratch });
    sandbox.dismiss();
    expect(await sandbox.ended).toMatchObject({ status: 0, output: '' });
    expect(await readdir(scratch)).toEqual([]);
    await rm(scratch, { recursive: true });
  });

  it('stops its database when nobody is left to read what it logs', async () => {
    await using data = await newDataDir();
    const sandbox = startJson(['--data', data.path], { LOG_LEVEL: 'info' });
    await sandbox.read();
    for (const output of [sandbox.process.stdout, sandbox.process.stderr]) output.destroy();
    sandbox.dismiss();
    expect((await sandbox.ended).status).toBe(0);
    expect(await processesOn(data.path)).toEqual([]);
  });

  it('leaves nothing after a signal', async () => {
    const sandbox = startJson();
    const { data_dir } = await sandbox.read();
    sandbox.process.kill('SIGINT');
    expect((await sandbox.ended).status).toBe(0);
    expect(existsSync(data_dir)).toBe(false);
    await nothingRunsOn(data_dir);
  });

  it('takes none of the settings and databases of the program that started it, if its data is temporary', async () => {
    const sandbox = startJson(undefined, {
      ...{ ENVIRONMENT: 'production', DATABASE_URL: 'postgres://u:p@db.invalid/x', HOST: 'db.invalid' },
      ...{ PORT: 'unicorn', LOG_LEVEL: 'verbose', DATA_DIR: '/dev/null' },
    });
    expect((await fetch(`${(await sandbox.read()).url}/readyz`)).status).toBe(200);
  });

  it('keeps the data of a folder, also one with spaces and a path too long for a socket, and resets none', async () => {
    await using data = await newDataDir();
    const folder = join(data.path, `with spaces ${'and a long name '.repeat(6)}`);
    await mkdir(data.path);
    await chmod(data.path, 0o755);
    const first = startJson(['--data', folder]);
    const facts = await first.read();
    expect(facts.data_dir).toBe(folder);
    const call = caller(facts, await tokenFor(facts));
    const { body } = await call('/payment-methods', { ...card(), external_identifier: 'kept' });
    expect(await first.ask('reset')).toEqual({ error: 'Only a sandbox with --data temporary can be reset.' });
    first.dismiss();
    await first.ended;
    const second = startJson(['--data', folder]);
    const again = await second.read();
    const other = caller(again, await tokenFor(again));
    const { status, body: refusal } = await other('/payment-methods', {
      ...card(),
      external_identifier: 'kept',
    });
    expect([status, refusal.resource_id]).toEqual([409, body.id]);
    second.dismiss();
    await second.ended;
  });

  it('says in a sentence why it does not start', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const said = async (args: string[], env: Env = {}) => {
      const { status, stdout, stderr } = await createPayments(env)(['start', '--json', ...args]);
      return [status, stdout, stderr];
    };
    expect(await said(['--data', 'temporary', '--port', String(port)])).toEqual([
      1,
      '',
      `Port ${port} is taken. Choose another: --port ${port + 1}\n`,
    ]);
    server.close();
    expect(await said(['--data', 'temporary'], { TMPDIR: '/no/such/folder' })).toEqual([
      1,
      '',
      'No folder can be made in /no/such/folder (ENOENT): set TMPDIR to a folder that this user can write.\n',
    ]);
    const [status, , stderr] = await said(['--data', '/dev/null/data']);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^\/dev\/null\/data cannot be (created|read)/),
    ]);
    expect(await said(['--data', 'somewhere'], { ENVIRONMENT: 'production' })).toEqual([
      2,
      '',
      '--port, --data and --json are for the sandbox. In production, set PORT instead.\n',
    ]);
  });
});

describe('a reset', () => {
  it('makes everything as just started, at the same URL, with the same keys', async () => {
    const sandbox = startJson();
    const facts = await sandbox.read();
    const call = caller(facts, await tokenFor(facts));
    const before = (await call('/transactions?limit=100')).body;
    const made = await call(
      '/payment-methods',
      { ...card(), external_identifier: 'once' },
      { 'Idempotency-Key': 'k' },
    );
    expect(await sandbox.ask('reset')).toEqual(facts);
    expect((await call('/transactions?limit=100')).body.items).toEqual(before.items);
    const again = await call(
      '/payment-methods',
      { ...card(), external_identifier: 'once' },
      { 'Idempotency-Key': 'k' },
    );
    expect([made.status, again.status]).toEqual([201, 201]);
    expect(again.body.id).not.toBe(made.body.id);
    const feed = (await (await fetch(`${facts.url}/sandbox/feed`)).json()) as { requests: unknown[] };
    expect(feed.requests).toHaveLength(2);
    const { stdout } = await createPayments({ DATA_DIR: facts.data_dir })([
      'payment-methods',
      'list',
      '--json',
    ]);
    expect(stdout).toContain(String(again.body.id));
  });

  it('finishes the requests under way, and serves those that come meanwhile afterwards', async () => {
    const sandbox = startJson();
    const facts = await sandbox.read();
    const call = caller(facts, await tokenFor(facts));
    const order: string[] = [];
    const note = async <T>(name: string, work: Promise<T>): Promise<T> => {
      const result = await work;
      order.push(name);
      return result;
    };
    // Its PIN delays the balance by two seconds.
    const body = { items: [{ number: '9999000050001234', pin: '9100' }] };
    const slow = note('slow request', call('/gift-cards/balances', body));
    await expect.poll(() => call('/transactions?limit=1').then(({ status }) => status)).toBe(200);
    const reset = note('reset', sandbox.ask('reset'));
    const stored = { ...card(), external_identifier: 'meanwhile' };
    const meanwhile = await call('/payment-methods', stored);
    expect([(await slow).status, await reset, meanwhile.status]).toEqual([200, facts, 201]);
    expect(order).toEqual(['slow request', 'reset']);
    // It was not stored in the database of before.
    expect((await call('/payment-methods', stored)).body).toMatchObject({ resource_id: meanwhile.body.id });
  });

  it('is followed by no delivery of before', async () => {
    const sandbox = startJson();
    const facts = await sandbox.read();
    const call = caller(facts, await tokenFor(facts));
    // The first attempts fail, and the next are due after some five seconds.
    const failing = await startReceiver(async () => Promise.resolve(500));
    await call('/webhook-subscriptions', { url: failing.url });
    await call('/payment-methods', card());
    await expect.poll(() => failing.events.length).toBe(1);
    // These are due, and wait behind each other.
    await Promise.all(Array.from({ length: 20 }, () => call('/payment-methods', card())));
    await sandbox.ask('reset');
    const delivered = failing.events.length;
    const receiver = await startReceiver(async () => Promise.resolve(204));
    await call('/webhook-subscriptions', { url: receiver.url });
    await call('/payment-methods', card());
    await expect.poll(() => receiver.events.length).toBe(1);
    expect(failing.events).toHaveLength(delivered);
    const { stdout } = await createPayments({ DATA_DIR: facts.data_dir })([
      'webhooks',
      'deliveries',
      '--json',
    ]);
    expect((JSON.parse(stdout) as { items: unknown[] }).items).toHaveLength(1);
  });
});

it('payments start without options is the service itself, with ENVIRONMENT=production too', async () => {
  const help = await createPayments()(['--help']);
  expect(help.stdout).toMatch(/^ {2}start +start a sandbox here/m);
  const production = await createPayments({ ENVIRONMENT: 'production' })(['start']);
  expect(production).toMatchObject({ status: 78, stderr: '' });
  expect(production.stdout).toMatch(/DATABASE_URL is missing.*"msg":"the service did not start"/s);
  await using data = await newDataDir();
  const child = startPayments(['start', '--port', '0'], { DATA_DIR: data.path });
  await expect.poll(child.stdout).toMatch(/"msg":"listening"/);
  const [, url = ''] = /Payments service, sandbox: (\S+)/.exec(child.stdout()) ?? [];
  expect(child.stdout()).toContain(`DATA_DIR=${data.path}`);
  expect(await (await fetch(url)).text()).toContain(': sandbox');
  // Its standard input means nothing.
  child.process.stdin.end();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  child.process.kill('SIGTERM');
  expect((await child.ended).status).toBe(0);
  expect(await isListening(Number(new URL(url).port))).toBe(false);
  expect(existsSync(join(data.path, 'sandbox-key.pem'))).toBe(true);
});
