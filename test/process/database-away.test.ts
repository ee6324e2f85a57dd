// The database stops and starts again: every request is answered in the meantime, and the service recovers by itself.
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signToken } from '../../server/resources/api-key-pairs/token.ts';
import { handlers } from '../../server/handlers/index.ts';
import { runningUrl, startEmbedded, type EmbeddedDatabase } from '../../server/database/embedded/index.ts';
import { openReadyDatabase } from '../../server/database/open.ts';
import { createCaller } from '../support/call.ts';
import { eventually, newDataDir, nothingRunsOn, type DataDir } from '../support/data-dir.ts';
import { startServer } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

const statusOf = async (url: string) => (await fetch(url)).status;

describe('a database that is stopped and started under load', () => {
  let dataDir: DataDir;
  let database: EmbeddedDatabase;
  let service: TestService;
  let queryRuns: () => void;
  const running = new Promise<void>((resolve) => (queryRuns = resolve));

  beforeAll(async () => {
    dataDir = await newDataDir();
    database = await startEmbedded({ dataDir: dataDir.path });
    service = await startTestService({
      config: { databaseUrl: database.url },
      handlers: {
        ...handlers,
        listTransactions: async () => {
          const { db } = service.service.database;
          await db.connection().execute(async (connection) => {
            await sql`select 1`.execute(connection);
            queryRuns();
            await sql`select pg_sleep(14)`.execute(connection);
          });
          throw new Error('the database was not stopped');
        },
      },
    });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await database.stop();
    await dataDir[Symbol.asyncDispose]();
  });

  it('causes JSON 500 answers and 503 on /readyz, and the service recovers by itself', async () => {
    const token = service.token('*.read', '*.write');
    const body = { url: 'https://receiver.example/hook' };
    const get = () => service.call('GET', '/api-key-pairs', { token });
    const post = () => service.call('POST', '/webhook-subscriptions', { token, body });
    const seen = { get: [] as number[], post: [] as number[] };
    let ending = false;
    const loop = async (statuses: number[], call: typeof get) => {
      // `call` validates every answer against the contract.
      while (!ending) statuses.push((await call()).status);
    };
    const load = [get, get, get, get].map((call) => loop(seen.get, call));
    load.push(loop(seen.post, post), loop(seen.post, post));
    const stopLoad = async () => {
      ending = true;
      await Promise.all(load);
    };

    try {
      await eventually(() => seen.get.includes(200) && seen.post.includes(201), 'the load is on');
      const caught = service.call('GET', '/transactions', { token });
      await running;

      await database.stop();
      const { status, body: answer } = await caught;
      expect(status).toBe(500);
      expect(answer).toEqual({
        type: 'error',
        code: 'server_error',
        status: 500,
        message: 'Request could not be processed',
        details: [],
      });
      await eventually(() => seen.get.includes(500) && seen.post.includes(500), 'the load notices');
      expect(await statusOf(`${service.url}/readyz`)).toBe(503);
      expect(await statusOf(`${service.url}/healthz`)).toBe(200);

      const { url } = database;
      database = await startEmbedded({ dataDir: dataDir.path });
      expect(database.url).toBe(url);
      await eventually(
        async () => (await statusOf(`${service.url}/readyz`)) === 200,
        '/readyz says yes again',
      );
      await eventually(() => seen.get.at(-1) === 200 && seen.post.at(-1) === 201, 'the load is served again');
    } finally {
      await stopLoad();
    }
    expect(new Set(seen.get)).toEqual(new Set([200, 500]));
    expect(new Set(seen.post)).toEqual(new Set([201, 500]));
    expect((await get()).status).toBe(200);
  });

  interface Line {
    level: number;
    requestId?: string;
    job?: string;
    path?: string;
    status?: number;
    reason?: string;
    msg?: string;
  }
  const logLines = () => service.logs.map((line) => JSON.parse(line) as Line);

  it('is logged at its begin and its end, and not at every try', async () => {
    const ofQueue = () =>
      logLines().flatMap(({ msg }) => (msg?.startsWith('the webhook queue can') ? [msg] : []));
    const told = [
      'the webhook queue cannot be read; trying again every second',
      'the webhook queue can be read again',
    ];
    await eventually(() => ofQueue().at(-1) === told[1], 'the end is logged');
    expect(ofQueue()).toEqual(ofQueue().map((_, index) => told[index % 2]));
  });

  it('is the reason in the line of /readyz, which is a warning; other probes are for debugging', () => {
    const probes = logLines().filter(({ path = '' }) => ['/healthz', '/readyz'].includes(path));
    const kinds = new Set(
      probes.map(({ path, status, level, reason }) => [path, status, level, reason].join(' ')),
    );
    expect(kinds).toEqual(
      new Set(['/healthz 200 20 ', '/readyz 200 20 ', '/readyz 503 40 database unreachable']),
    );
  });

  it('is logged, with the IDs of the requests that failed', () => {
    const lines = logLines();
    // The jobs of the start may be under way when the database stops.
    const errors = lines.filter(({ level, job }) => level === 50 && job === undefined);
    expect(errors.length).toBeGreaterThan(0);
    for (const { requestId } of errors) expect(requestId).toBeDefined();
  });
});

describe('the embedded database', () => {
  it('is restarted by the server when another process stops it, also at another address', async () => {
    // A path that is too long for a socket: then the address is a port, which another program may take.
    await using parent = await newDataDir();
    const dataDir = join(parent.path, 'x'.repeat(90));
    const other = await startEmbedded({ dataDir });
    await using server = await startServer({ DATA_DIR: dataDir });
    const key = createPrivateKey(readFileSync(join(dataDir, 'sandbox-key.pem')));
    const call = createCaller(server.url);
    const status = async () =>
      (await call('GET', '/api-key-pairs', { token: signToken(key, ['*.read'], 60) })).status;
    expect(await status()).toBe(200);

    // The server sleeps until another program has the port.
    server.signal('SIGSTOP');
    await other.stop();
    const stranger = createServer().listen(Number(new URL(other.url).port), '127.0.0.1');
    await once(stranger, 'listening');
    server.signal('SIGCONT');
    await eventually(() => server.output().includes('was started again'), 'the server starts it again');
    await eventually(async () => (await status()) === 200, 'the service is back');
    stranger.close();

    expect((await server.stop()).status).toBe(0);
    expect(await runningUrl(dataDir)).toBeUndefined();
  });

  it('is still stopped by the server after it was too busy to answer for a while', async () => {
    await using dataDir = await newDataDir();
    const store = await openReadyDatabase({
      environment: 'sandbox',
      databaseUrl: undefined,
      dataDir: dataDir.path,
      log: () => undefined,
      size: 1,
    });
    const client = await store.pool.connect();
    const present = async () =>
      (
        await client.query(
          "select pid from pg_stat_activity where application_name = 'payments-service present'",
        )
      ).rows;
    const before = await present();
    // There is no event to wait for; the observable effect is that the server has adopted its own database.
    await eventually(
      async () => !isDeepStrictEqual(await present(), before),
      'the health check adopts it again',
    );
    client.release();
    await store.close();
    await nothingRunsOn(dataDir.path);
  });
});
