// Graceful shutdown: running requests are answered, new ones are refused, and no process is left.
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handlers } from '../../server/handlers/index.ts';
import { signToken } from '../../server/kit/access/token.ts';
import { limits } from '../../server/kit/http/listen.ts';
import { createCaller } from '../support/call.ts';
import { card } from '../support/card.ts';
import { eventually, newDataDir } from '../support/data-dir.ts';
import { createTestDatabase, withClient } from '../support/database.ts';
import { keyIn } from '../support/keys.ts';
import { root, startCommand, startServer } from '../support/processes.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';
import { patient, settled, storeCard, subscribe, until } from '../support/webhooks.ts';

const normal = { ...limits };
afterEach(() => {
  Object.assign(limits, normal);
});

/** A service with an operation that blocks until the test lets it continue. */
async function startSlow() {
  let begun = () => {};
  let goOn = () => {};
  const underWay = new Promise<void>((resolve) => (begun = resolve));
  const released = new Promise<void>((resolve) => (goOn = resolve));
  const service = await startTestService({
    handlers: {
      ...handlers,
      listCardSchemeDefinitions: async (...args) => {
        begun();
        await released;
        return handlers.listCardSchemeDefinitions(...args);
      },
    },
  });
  const token = service.token('*.read');
  return {
    service,
    underWay,
    goOn,
    slow: () => service.call('GET', '/card-scheme-definitions', { token }),
    connect: async () => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      await once(socket, 'connect');
      return socket;
    },
  };
}

/** An idle keep-alive connection that was used once. */
async function keepAlive(socket: Socket): Promise<Socket> {
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: keep-alive\r\n/);
  return socket;
}

const isRefused = (url: string) =>
  fetch(url).then(
    () => false,
    (error: unknown) => (error as { cause?: { code?: string } }).cause?.code === 'ECONNREFUSED',
  );

describe('closing', () => {
  it('answers running requests, refuses new ones, and does not wait for idle connections', async () => {
    // Long timeouts, so that only the shutdown can close the connections.
    Object.assign(limits, {
      keepAliveMilliseconds: 600_000,
      headersMilliseconds: 600_000,
      requestMilliseconds: 600_000,
      shutdownMilliseconds: 600_000,
    });
    const { service, underWay, goOn, slow, connect } = await startSlow();
    const answer = slow();
    await underWay;
    const used = await keepAlive(await connect());
    const unused = await connect();
    // Wait until the service has noticed it too.
    await keepAlive(await connect());

    let closed = false;
    const closing = service.service.close().then(() => (closed = true));
    await Promise.all([once(used.resume(), 'close'), once(unused.resume(), 'close')]);
    expect(await isRefused(service.url)).toBe(true);
    expect(closed).toBe(false);

    goOn();
    const { status, headers } = await answer;
    expect(status).toBe(200);
    expect(headers.get('connection')).toBe('close');
    await closing;
    await service[Symbol.asyncDispose]();
  });

  it('answers a request that is on its way, on a connection that was used and on a new one', async () => {
    limits.lastRequestMilliseconds = 600_000;
    const { service, connect } = await startSlow();
    const used = await keepAlive(await connect());
    const unused = await connect();
    // Wait until the service has noticed it too.
    (await keepAlive(await connect())).destroy();
    const closing = service.service.close();
    for (const socket of [used, unused]) {
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      let text = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      await once(socket, 'close');
      expect(text).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/);
    }
    await closing;
  });

  it('stops at the deadline', async () => {
    limits.shutdownMilliseconds = 100;
    const { service, underWay, goOn, slow } = await startSlow();
    const answer = slow().then(
      () => 'answered',
      () => 'cut off',
    );
    await underWay;
    await service.service.close();
    expect(await answer).toBe('cut off');
    goOn();
  });
});

/** Passes everything on to the database, until it is frozen: then nothing, but the connections stay. */
async function startFreezer(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl);
  const sockets: Socket[] = [];
  let frozen = false;
  const proxy = createServer((near) => {
    const far = connect(Number(port), hostname);
    sockets.push(near, far);
    for (const socket of [near, far]) socket.on('error', () => undefined);
    if (frozen) return;
    near.pipe(far);
    far.pipe(near);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.href,
    freeze: () => {
      frozen = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

describe('closing ends', () => {
  beforeEach(() => {
    limits.shutdownMilliseconds = 100;
  });

  it('past a request, a daily job and a delivery that hang; the delivery is left to the next', async () => {
    let begun = () => {};
    const underWay = new Promise<void>((resolve) => (begun = resolve));
    await using receiver = await startReceiver((res, _got, nth) => {
      if (nth > 1) res.writeHead(204).end();
    });
    const service = await startTestService({
      webhooks: patient,
      jobMilliseconds: 50,
      handlers: {
        ...handlers,
        listCardSchemeDefinitions: () => {
          begun();
          return new Promise(() => undefined);
        },
      },
    });
    const subscription = await subscribe(service, receiver.url);
    await storeCard(service);
    await receiver.received(1);
    const token = service.token('*.read');
    const request = service.call('GET', '/card-scheme-definitions', { token }).catch(() => undefined);
    await underWay;
    const locker = new pg.Client({ connectionString: service.config.databaseUrl });
    await locker.connect();
    await locker.query('begin; lock table rate_limits in access exclusive mode');
    const waiting = `select 1 from pg_locks where not granted and relation = 'rate_limits'::regclass`;
    await until(async () => (await locker.query(waiting)).rows.length > 0);

    await service.service.close();
    await request;
    // At once, and not when the lease would end.
    const leased = await locker.query('select 1 from deliveries where leased_by is not null');
    expect(leased.rows).toEqual([]);
    await locker.end();
    await using next = await startTestService({ webhooks: patient, config: service.config });
    await receiver.received(2);
    expect(await settled(next, subscription)).toMatchObject({ state: 'succeeded', attempts: 1 });
  });

  it('past a database that accepts everything and answers nothing; the delivery is made when its lease ends', async () => {
    await using receiver = await startReceiver((res, _got, nth) => {
      if (nth > 1) res.writeHead(204).end();
    });
    const databaseUrl = await createTestDatabase();
    await using freezer = await startFreezer(databaseUrl);
    const service = await startTestService({ webhooks: patient, config: { databaseUrl: freezer.url } });
    const subscription = await subscribe(service, receiver.url);
    await storeCard(service);
    await receiver.received(1);
    freezer.freeze();
    await service.service.close();

    // The lease ended long ago.
    await withClient(databaseUrl, (client) =>
      client.query('update deliveries set due_at = now() where leased_by is not null'),
    );
    await using next = await startTestService({
      webhooks: patient,
      config: { ...service.config, databaseUrl },
    });
    await receiver.received(2);
    expect(await settled(next, subscription)).toMatchObject({ state: 'succeeded', attempts: 1 });
  });
});

describe('the process', () => {
  it('ends before its own limit of 19 s, after which the status is 1, also when a library holds a handle and a receiver has switched protocols', async () => {
    await using dataDir = await newDataDir();
    const module = join(dirname(dataDir.path), 'providers.mjs');
    await writeFile(
      module,
      'setInterval(() => {}, 1000); export const describeCard = () => ({ card_type: null, card_issuer_name: null });',
    );
    const receiver = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    await using server = await startServer({
      DATA_DIR: dataDir.path,
      DATABASE_URL: await createTestDatabase(),
      PROVIDERS: module,
    });
    const key = keyIn(dataDir.path);
    const call = createCaller(server.url);
    const token = signToken(key, ['*.write'], 3600);
    const connected = once(receiver, 'connection');
    await call('POST', '/webhook-subscriptions', { token, body: { url: `http://127.0.0.1:${port}/` } });
    await call('POST', '/payment-methods', { token, body: card });
    await connected;
    expect((await server.stop('SIGTERM')).status).toBe(0);
    receiver.close();
  });

  // With the mock, which is ready within a second; the others are started in the same way.
  it('stops with the npm that has started it, as a script does with kill $!', async () => {
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    for (const [name, file] of Object.entries({
      start: 'server/main.ts --pack',
      payments: 'server/cli/main.ts',
    }))
      expect(scripts[name]).toBe(scripts.mock?.replace('mock/main.ts', file));
    expect(scripts.dev).toMatch(/^exec node /);
    const npm = startCommand('npm', ['run', 'mock', '--', '--port', '0'], {});
    // As long as it takes: npm starts two programs, one after the other.
    await eventually(() => npm.output().includes('http://127.0.0.1:'), 'it listens', 280);
    npm.process.kill('SIGTERM');
    // Its output ends with the last process that has it.
    await npm.ended;
  }, 300_000);

  it('answers running requests on SIGINT, also if it arrives several times, as one Ctrl-C does under npm; it does not log that the embedded PostgreSQL stops too', async () => {
    await using dataDir = await newDataDir();
    await using server = await startServer({ DATA_DIR: dataDir.path });
    const open = () => connect(Number(new URL(server.url).port), '127.0.0.1');
    const slow = open();
    slow.write('GET /healthz HTTP/1.1\r\nHo');
    // This answer shows that the bytes above were read.
    await keepAlive(open());
    const file = join(dataDir.path, 'postgres', 'data', 'postmaster.pid');
    const postmaster = Number.parseInt(await readFile(file, 'utf8'), 10);
    server.signal('SIGINT');
    await eventually(() => server.output().includes('stopping: finishing'), 'it has heard');
    server.signal('SIGINT');
    server.signal('SIGTERM');
    // A fast shutdown, as the service does it last.
    process.kill(postmaster, 'SIGINT');
    await eventually(() => !isRunning(postmaster), 'PostgreSQL has stopped');
    slow.write('st: x\r\n\r\n');
    const [answer] = (await once(slow, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
    const { status, stdout } = await server.child.ended;
    expect(status).toBe(0);
    expect(stdout.match(/stopping: finishing/g)).toHaveLength(1);
    expect(stdout).not.toContain('the database connection failed');
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
