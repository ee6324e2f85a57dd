// `npm start`: the first start creates everything, the next one keeps it, and a failed start prints one sentence.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import type { Config } from '../../server/config.ts';
import { thumbprint, signToken } from '../../server/kit/access/token.ts';
import { runningUrl } from '../../server/kit/database/embedded/index.ts';
import { makeSandboxSecrets } from '../../server/kit/secrets/secrets-file.ts';
import { secretNames } from '../../server/settings.ts';
import { createCaller } from '../support/call.ts';
import { eventually, newDataDir, nothingRunsOn, type DataDir } from '../support/data-dir.ts';
import { createTestDatabase, query } from '../support/database.ts';
import { onTerminal, paymentsHere, serviceHere, startInVainHere } from '../support/in-process.ts';
import { certificate, expiredCertificateFile, keyIn } from '../support/keys.ts';
import { freePort, isListening } from '../support/ports.ts';
import {
  run,
  runNode,
  settingNames,
  startCommand,
  startNode,
  startServer,
  type Server,
} from '../support/processes.ts';
import { noSecrets, startTestService, testSecrets, type TestService } from '../support/service.ts';

const modeOf = async (file: string) => (await stat(file)).mode & 0o777;

/** In the embedded database. */
const queryIn = async (folder: string, text: string) => query((await runningUrl(folder)) ?? '', text);

const pairs = 'select id, thumbprint, algorithm, active from api_key_pairs order by created_at';

const answerTo = (url: string, folder: string) =>
  createCaller(url)('GET', '/api-key-pairs', { token: signToken(keyIn(folder), ['*.read'], 60) });

/** A service that listens, and waits to write its address: the table is locked until `client` ends its transaction. */
async function startLocked() {
  const dataDir = await newDataDir();
  onTestFinished(() => dataDir[Symbol.asyncDispose]());
  const databaseUrl = await createTestDatabase();
  const config = { dataDir: dataDir.path, databaseUrl, secrets: noSecrets };
  await (await startTestService({ config }))[Symbol.asyncDispose]();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  // Readers of the table pass, and whoever writes to it waits.
  await client.query('begin');
  await client.query('lock table settings in share mode');
  const port = await freePort();
  const env = { DATA_DIR: dataDir.path, DATABASE_URL: databaseUrl, PORT: String(port) };
  const child = startNode('server/main.ts', [], { env });
  onTestFinished(() => void child.process.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}`;
  // Not only that it listens: a start first opens the port for a moment, to see whether it is free.
  const isAlive = async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.status === 200;
  await eventually(isAlive, 'it listens');
  return { client, child, databaseUrl, port, url, ask: () => answerTo(url, dataDir.path) };
}

describe('a service that listens and has not written its address yet', () => {
  it('is not ready, and keeps requests until it serves them', async () => {
    const { client, child, url, ask } = await startLocked();
    const readiness = async () => {
      const response = await fetch(`${url}/readyz`);
      return { status: response.status, body: await response.json() };
    };
    expect(await readiness()).toEqual({ status: 503, body: { status: 'not ready', reason: 'starting' } });
    const answer = ask();
    expect(await Promise.race([answer, readiness()])).toMatchObject({ body: { reason: 'starting' } });
    await client.query('commit');
    expect((await answer).status).toBe(200);
    expect(await readiness()).toEqual({ status: 200, body: { status: 'ready' } });
    // It may be meant for production.
    const [first] = child.stdout().match(/^\{.*\}$/gm) ?? [];
    expect(first).toMatch(/"level":40.*ENVIRONMENT is not set although DATABASE_URL .*is, so/);
  });

  it('ends with 1 if that fails, and cuts off the requests that waited', async () => {
    const { child, databaseUrl, port, ask } = await startLocked();
    const cutOff = expect(ask()).rejects.toThrow('fetch failed');
    const waiting = `select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like 'insert into "settings"%'`;
    // Not by the client: in its transaction, PostgreSQL shows the activity of the first look.
    await eventually(async () => (await query(databaseUrl, waiting)).length === 1, 'the write waits');
    await cutOff;
    const { status, stdout } = await child.ended;
    expect([status, stdout]).toEqual([1, expect.stringContaining('"msg":"the service did not start"')]);
    expect(await isListening(port)).toBe(false);
  });
});

describe('the sandbox in an empty folder', () => {
  let dataDir: DataDir;
  let server: Server;
  let first: { pair: unknown; pem: string; secrets: string };

  beforeAll(async () => {
    dataDir = await newDataDir();
    server = await startServer({ DATA_DIR: dataDir.path });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await dataDir[Symbol.asyncDispose]();
  });
  const file = (name: string) => join(dataDir.path, name);

  it('has one key pair, an administrator for all accounts, whose private key is in DATA_DIR', async () => {
    const rows = await queryIn(dataDir.path, pairs);
    expect(rows).toMatchObject([{ thumbprint: thumbprint(keyIn(dataDir.path)), algorithm: 'ECDSA' }]);
    const { status, body } = await answerTo(server.url, dataDir.path);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      items: [
        { display_name: 'Sandbox', merchant_accounts: [], roles: [{ slug: 'administrator' }], active: true },
      ],
    });
    first = {
      pair: rows[0],
      pem: readFileSync(file('sandbox-key.pem'), 'utf8'),
      secrets: readFileSync(file('secrets.json'), 'utf8'),
    };
  });

  it('stores secrets readable only by the owner, in a folder that others cannot list', async () => {
    expect(await modeOf(file('sandbox-key.pem'))).toBe(0o600);
    expect(await modeOf(file('secrets.json'))).toBe(0o600);
    // As root, the folder must let PostgreSQL's user pass through.
    expect(await modeOf(dataDir.path)).toBe(process.getuid?.() === 0 ? 0o711 : 0o700);
    const secrets = JSON.parse(first.secrets) as Record<string, string>;
    expect(Object.keys(secrets).sort()).toEqual([...secretNames].sort());
    for (const value of Object.values(secrets)) expect(Buffer.from(value, 'base64')).toHaveLength(32);
  });

  it('stops cleanly, and the second start keeps everything', async () => {
    const { status, stdout } = await server.stop();
    expect(status).toBe(0);
    expect(stdout).toMatch(/"msg":"stopping: finishing running requests"\}\n[^]*"msg":"stopped"\}\n$/);
    await nothingRunsOn(dataDir.path);
    server = await startServer({ DATA_DIR: dataDir.path });
    expect(server.output()).not.toContain('sample data was added');
    expect(await queryIn(dataDir.path, pairs)).toEqual([first.pair]);
    expect(readFileSync(file('sandbox-key.pem'), 'utf8')).toBe(first.pem);
    expect(readFileSync(file('secrets.json'), 'utf8')).toBe(first.secrets);
    expect((await answerTo(server.url, dataDir.path)).status).toBe(200);
  });
});

const hasTerminals = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;

it.skipIf(!hasTerminals)('on a terminal, nothing follows the greeting until somebody calls', async () => {
  await using dataDir = await newDataDir();
  const port = await freePort();
  const program = `${process.execPath} ${join(inject('compiled'), 'server/main.js')}`;
  const env = { DATA_DIR: dataDir.path, PORT: String(port) };
  const child = startCommand('script', ['-qefc', `stty cols 200; exec ${program}`, '/dev/null'], { env });
  onTestFinished(() => void child.process.kill());
  const lastLines = () => child.stdout().split('\r\n').slice(-3);
  const greeted = [`    http://127.0.0.1:${port}/card-scheme-definitions`, '', ''];
  await eventually(() => isDeepStrictEqual(lastLines(), greeted), 'it greets');
  // Pages and health checks do not count.
  for (const path of ['/', '/openapi.json', '/docs/', '/readyz'])
    await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  await fetch(`http://127.0.0.1:${port}/transactions`);
  await eventually(() => child.stdout().includes('401'), 'the call is shown');
  expect(child.stdout().split('\r\n').slice(-4, -1)).toEqual([
    ...greeted.slice(0, 2),
    expect.stringMatching(/^\[.*GET \/transactions 401 unauthorized no bearer token/),
  ]);
  child.process.stdin.write('\u0003');
  expect((await child.ended).status).toBe(0);
});

describe('the sandbox with DATABASE_URL', () => {
  const startAndStop = async (config: Partial<Config>) => {
    await using service = await startTestService({ config });
    expect((await answerTo(service.url, service.config.dataDir)).status).toBe(200);
    return { thumbprint: thumbprint(service.key), active: true };
  };

  it('creates a new key pair and file when sandbox-key.pem was lost, and does not change the old pair', async () => {
    await using dataDir = await newDataDir();
    const config = { dataDir: dataDir.path, databaseUrl: await createTestDatabase() };
    const before = await startAndStop(config);
    await rm(join(dataDir.path, 'sandbox-key.pem'));
    const after = await startAndStop(config);
    expect(await query(config.databaseUrl, pairs)).toMatchObject([before, after]);
    expect(after).not.toEqual(before);
  });

  it('registers an existing sandbox-key.pem in a new database', async () => {
    await using dataDir = await newDataDir();
    const before = await startAndStop({ dataDir: dataDir.path });
    const databaseUrl = await createTestDatabase();
    expect(await startAndStop({ dataDir: dataDir.path, databaseUrl })).toEqual(before);
    expect(await query(databaseUrl, pairs)).toMatchObject([before]);
  });
});

describe('the secrets of the sandbox', () => {
  it('are kept when a later version needs one more', async () => {
    await using dataDir = await newDataDir();
    const before = makeSandboxSecrets(dataDir.path, ['CARD_KEY']);
    const after = makeSandboxSecrets(dataDir.path, ['CARD_KEY', 'NEW_KEY']);
    expect(after.CARD_KEY).toEqual(before.CARD_KEY);
    expect(after.NEW_KEY?.[0]).toHaveLength(32);
    expect(makeSandboxSecrets(dataDir.path, ['CARD_KEY', 'NEW_KEY'])).toEqual(after);
    expect(await modeOf(join(dataDir.path, 'secrets.json'))).toBe(0o600);
  });

  it.each(['', '{"CARD_KEY":', '{"CARD_KEY":"c2hvcnQ="}'])(
    'stop the start when the file is %j',
    async (text) => {
      await using dataDir = await newDataDir();
      await mkdir(dataDir.path);
      await writeFile(join(dataDir.path, 'secrets.json'), text);
      expect(() => makeSandboxSecrets(dataDir.path, ['CARD_KEY'])).toThrow(
        /secrets\.json does not contain valid/,
      );
      expect(readFileSync(join(dataDir.path, 'secrets.json'), 'utf8')).toBe(text);
    },
  );
});

describe('two first starts at once', () => {
  it('create one key pair, and both serve; one keeps running when the other stops', async () => {
    await using dataDir = await newDataDir();
    const env = { DATA_DIR: dataDir.path };
    const both = await Promise.all([startServer(env), startServer(env)]);
    await using one = both[0];
    await using two = both[1];
    expect(await queryIn(dataDir.path, pairs)).toHaveLength(1);
    for (const { url } of [one, two]) expect((await answerTo(url, dataDir.path)).status).toBe(200);
    // Stopped one after the other, so that one of them is the starter of the database.
    expect((await one.stop()).status).toBe(0);
    expect((await answerTo(two.url, dataDir.path)).status).toBe(200);
    expect((await two.stop()).status).toBe(0);
  });
});

const mayMount = spawnSync('unshare', ['-m', 'true']).status === 0;

describe('a failed start logs one reason, at the level fatal', () => {
  it('a port that is taken, before anything is created', async () => {
    await using dataDir = await newDataDir();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { status, stderr } = await startInVainHere({ DATA_DIR: dataDir.path, PORT: String(port) });
    other.close();
    expect(existsSync(dataDir.path)).toBe(false);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `Port ${port} is taken. Choose another: PORT=${port + 1} npm start\n`,
    });
  });

  it.skipIf(!mayMount).each(['missing', 'made'])('a read-only file system (%s)', async (name) => {
    await using folder = await newDataDir();
    await mkdir(folder.path);
    const mount = [
      'mount -t tmpfs -o mode=755 tmpfs "$0" && mkdir -p "$0/made/postgres"',
      'mount -o remount,ro "$0" && exec "$@"',
    ].join(' && ');
    const program = [process.execPath, join(inject('compiled'), 'server/main.js')];
    const { status, output } = await run('unshare', ['-m', 'sh', '-c', mount, folder.path, ...program], {
      env: { DATA_DIR: join(folder.path, name), PORT: '0' },
    });
    const lines = output.trim().split('\n');
    expect([status, lines.length]).toEqual([1, 1]);
    expect(JSON.parse(output)).toMatchObject({
      level: 60,
      reason: expect.stringMatching(/read-only file system|file system is read-only/) as string,
      msg: 'the service did not start',
    });
  });

  it.each([[['--port', '9999']], [['--database-url', 'postgres://u:hunter2@h/d']], [['9999']]])(
    'arguments %j, because settings are variables',
    async (args) => {
      const { status, stdout, stderr } = await serviceHere(...args);
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toContain(
        'The service takes no arguments. Settings are variables, for example: PORT=9999 npm start\n',
      );
      expect(stderr).not.toContain('hunter2');
    },
  );

  it('--help lists all settings', async () => {
    const { status, stdout } = await serviceHere('--help');
    expect(status).toBe(0);
    for (const name of settingNames) expect(stdout).toContain(name);
  });

  it('a host that is not this machine', async () => {
    await using dataDir = await newDataDir();
    const env = { DATA_DIR: dataDir.path, DATABASE_URL: await createTestDatabase(), HOST: '192.0.2.1' };
    const { status, stderr } = await startInVainHere(env);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'HOST 192.0.2.1 is not an address of this machine (EADDRNOTAVAIL).\n',
    });
  });

  it('a database that cannot be reached, does not exist or is full, without printing its password', async () => {
    await using dataDir = await newDataDir();
    const url = await createTestDatabase();
    const start = async (DATABASE_URL: string) => {
      const { status, stdout, stderr } = await startInVainHere({ DATA_DIR: dataDir.path, DATABASE_URL });
      expect([status, stdout]).toEqual([1, '']);
      return stderr;
    };
    expect(await start('postgres://service:hunter2@127.0.0.1:1/payments')).toBe(
      'The database at 127.0.0.1:1/payments cannot be used: connect ECONNREFUSED 127.0.0.1:1. Is PostgreSQL running there? If not there, check DATABASE_URL (or DATABASE_URL_FILE).\n',
    );
    expect(await start('postgres://service:hunter2@[::1]:1/payments')).toMatch(
      /^The database at \[::1\]:1\/payments cannot be used: /,
    );
    const none = Object.assign(new URL(url), { pathname: '/no_such_database' });
    const address = none.searchParams.get('host') ?? none.host;
    expect(await start(none.href)).toBe(
      `The database at ${address}/no_such_database cannot be used: database "no_such_database" does not exist. Check DATABASE_URL (or DATABASE_URL_FILE), or create the database: see "Install on a server" in docs/guides/operator.md.\n`,
    );
    const [username, password] = [`full_${randomBytes(4).toString('hex')}`, randomBytes(8).toString('hex')];
    await query(url, `create role ${username} login password '${password}' connection limit 0`);
    expect(await start(Object.assign(new URL(url), { username, password }).href)).toMatch(
      /too many connections for role ".*"\. Raise this limit, .* see Sizing in docs\/operating\.md\.\n$/,
    );
    await query(url, `drop role ${username}`);
  });

  it('a database whose TLS certificate has expired: the URL is right', async () => {
    await using dataDir = await newDataDir();
    const tls = { isServer: true, key: certificate.key, cert: readFileSync(expiredCertificateFile) };
    const server = createServer((socket) => {
      // PostgreSQL accepts TLS with one letter.
      socket.once('data', () => {
        socket.write('S');
        new TLSSocket(socket, tls).on('error', () => undefined);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const place = `127.0.0.1:${(server.address() as AddressInfo).port}/payments`;
    const DATABASE_URL = `postgres://service:hunter2@${place}?sslmode=verify-full&sslrootcert=${expiredCertificateFile}`;
    const { status, stderr } = await startInVainHere({ DATA_DIR: dataDir.path, DATABASE_URL });
    server.close();
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `The database at ${place} cannot be used: certificate has expired. Renew the TLS certificate of the server there, or the one of its authority (sslrootcert), and let the server read it again. DATABASE_URL need not change.\n`,
    });
  });

  it('settings that are wrong, on a terminal as text', async () => {
    const said = await onTerminal(80, () => startInVainHere({ LOG_LEVEL: 'loud' }));
    expect(said).toMatchObject({ status: 78, stdout: '' });
    expect(said.stderr).toMatch(/^The configuration has 1 fault:\n {2}LOG_LEVEL must be .*\n$/);
  });
});

it('ends when it did not start, although the module of PROVIDERS holds a timer', async () => {
  await using dataDir = await newDataDir();
  const file = join(dirname(dataDir.path), 'providers.mjs');
  await writeFile(file, "setInterval(() => {}, 1000); throw new Error('on purpose');");
  const { status, output } = await runNode('server/main.ts', [], {
    env: { DATA_DIR: dataDir.path, PORT: '0', PROVIDERS: file },
  });
  expect([status, output]).toEqual([78, expect.stringContaining('cannot be loaded (on purpose)')]);
});

describe('production', () => {
  it('starts with all its settings, and its database has no sample data', async () => {
    await using dataDir = await newDataDir();
    const databaseUrl = await createTestDatabase();
    await using server = await startServer({
      ENVIRONMENT: 'production',
      PUBLIC_URL: 'https://pay.example',
      DATA_DIR: dataDir.path,
      DATABASE_URL: databaseUrl,
      ...Object.fromEntries(secretNames.map((name) => [name, randomBytes(32).toString('base64')])),
    });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(await query(databaseUrl, 'select id from merchant_accounts')).toEqual([]);
    expect(await query(databaseUrl, pairs)).toEqual([]);
    expect(existsSync(dataDir.path)).toBe(false);
    // In production, standard output has only log lines.
    expect((await server.stop()).status).toBe(0);
    for (const line of server.output().trim().split('\n')) expect(() => void JSON.parse(line)).not.toThrow();
  });

  const production = async (): Promise<Partial<Config>> => ({
    ...{ environment: 'production', publicUrl: 'https://pay.example', secrets: testSecrets() },
    databaseUrl: await createTestDatabase(),
  });
  const warnings = ({ logs }: TestService) =>
    logs
      .map((line) => JSON.parse(line) as { level: number; msg: string })
      .filter(({ level }) => level === 40);
  const envOf = ({ publicUrl, databaseUrl, secrets }: Partial<Config>) => ({
    ...{ ENVIRONMENT: 'production', PUBLIC_URL: publicUrl, DATABASE_URL: databaseUrl },
    ...Object.fromEntries(secretNames.map((name) => [name, secrets?.[name]?.[0].toString('base64')])),
  });

  it('without a merchant account says at the start and with a new key pair how to create one', async () => {
    const config = await production();
    const payments = (...args: string[]) => paymentsHere(args, envOf(config));
    const missing = expect.stringContaining('there is no merchant account yet') as string;
    const told = expect.objectContaining({ msg: missing }) as object;
    const before = await startTestService({ config });
    await before[Symbol.asyncDispose]();
    expect(warnings(before)).toContainEqual(told);
    const without = await payments('keys', 'create', '--name', 'Everything');
    expect([without.status, without.stderr]).toEqual([
      2,
      expect.stringMatching(/^In production give --role /),
    ]);
    const made = await payments('keys', 'create', '--name', 'First', '--role', 'administrator');
    expect([made.status, made.stderr]).toEqual([
      0,
      expect.stringMatching(
        /^There is no merchant account yet.* payments accounts create default --name Default\n$/,
      ),
    ]);
    expect((await payments('accounts', 'create', 'default', '--name', 'Default')).status).toBe(0);
    expect((await payments('keys', 'create', '--name', 'Second', '--role', 'administrator')).stderr).toBe('');
    const plain = await payments('webhooks', 'create', 'http://shop.example/hook');
    expect([plain.status, plain.stderr]).toEqual([1, 'In production the URL must start with https://.\n']);
    const token = await payments('token', '--scopes', '*.read');
    expect([token.status, token.stderr]).toEqual([
      2,
      expect.stringMatching(/^In production give --key FILE/),
    ]);
    const after = await startTestService({ config });
    await after[Symbol.asyncDispose]();
    expect(warnings(after)).not.toContainEqual(told);
  });

  it('a CARD_KEY that fits only some stored values is an error in the log', async () => {
    const first = await startTestService();
    await first[Symbol.asyncDispose]();
    const { databaseUrl, secrets } = first.config;
    await query(
      databaseUrl ?? '',
      `update payment_methods set number_sealed = regexp_replace(number_sealed, '^[^.]*', '0badc0de')
       where id = (select min(id::text)::uuid from payment_methods where number_sealed is not null)`,
    );
    const { logs, ...service } = await startTestService({
      config: { databaseUrl, environment: 'production', secrets },
    });
    await service[Symbol.asyncDispose]();
    expect(logs.filter((line) => line.includes('"level":50'))).toEqual([
      expect.stringContaining('a key that is missing: 0badc0de. Add it to CARD_KEY (or CARD_KEY_FILE).'),
    ]);
  });
});
