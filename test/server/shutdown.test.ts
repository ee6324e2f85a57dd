// Graceful shutdown: running requests are answered, new ones are refused, and no process is left.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { handlers } from '../../server/handlers/index.ts';
import { limits } from '../../server/http/listen.ts';
import { createTestDatabase } from '../support/database.ts';
import { eventually, newDataDir, nothingRunsOn, processesOn } from '../support/data-dir.ts';
import { startServer } from '../support/processes.ts';
import { startTestService } from '../support/service.ts';

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

  it('answers a request that was partly received when the shutdown began', async () => {
    const { service, underWay, goOn, slow, connect } = await startSlow();
    const answer = slow();
    await underWay;
    const late = await keepAlive(await connect());
    late.write('GET /healthz HTTP/1.1\r\nHo');
    // This answer shows that the bytes above were read before the shutdown begins.
    await keepAlive(await connect());
    const closing = service.service.close();
    let text = '';
    late.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    late.write('st: x\r\n\r\n');
    await once(late, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/);
    goOn();
    expect((await answer).status).toBe(200);
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

  it('may be called twice', async () => {
    const { service } = await startSlow();
    await Promise.all([service.service.close(), service.service.close()]);
    await service.service.close();
  });
});

describe('the process', () => {
  it('exits with 0 on SIGTERM despite keep-alive connections, and PostgreSQL stops too', async () => {
    await using dataDir = await newDataDir();
    await using server = await startServer({ DATA_DIR: dataDir.path });
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    await keepAlive(socket);
    expect(await processesOn(dataDir.path)).not.toEqual([]);
    const { status, stdout } = await server.stop('SIGTERM');
    expect(status).toBe(0);
    expect(stdout).toMatch(/"msg":"stopping: finishing running requests"\}\n[^]*"msg":"stopped"\}\n$/);
    await nothingRunsOn(dataDir.path);
    expect(await isRefused(server.url)).toBe(true);
  });

  it('answers running requests on SIGINT, also if it arrives several times, as one Ctrl-C does under npm', async () => {
    await using dataDir = await newDataDir();
    await using server = await startServer({
      DATA_DIR: dataDir.path,
      DATABASE_URL: await createTestDatabase(),
    });
    const open = () => connect(Number(new URL(server.url).port), '127.0.0.1');
    const slow = open();
    slow.write('GET /healthz HTTP/1.1\r\nHo');
    // This answer shows that the bytes above were read.
    await keepAlive(open());
    server.signal('SIGINT');
    await eventually(() => server.output().includes('stopping: finishing'), 'it has heard');
    server.signal('SIGINT');
    server.signal('SIGTERM');
    slow.write('st: x\r\n\r\n');
    const [answer] = (await once(slow, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
    const { status, stdout } = await server.child.ended;
    expect(status).toBe(0);
    expect(stdout.match(/stopping: finishing/g)).toHaveLength(1);
  });
});
