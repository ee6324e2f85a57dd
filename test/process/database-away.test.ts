// The database stops and starts again: every request is answered in the meantime, and the service recovers by itself.
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { handlers } from '../../server/handlers/index.ts';
import { signToken } from '../../server/kit/access/token.ts';
import {
  runningUrl,
  startEmbedded,
  type EmbeddedDatabase,
} from '../../server/kit/database/embedded/index.ts';
import { createCaller } from '../support/call.ts';
import { card } from '../support/card.ts';
import { eventually, newDataDir, type DataDir } from '../support/data-dir.ts';
import { keyIn } from '../support/keys.ts';
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

  it('causes 504 answers and 503 on /readyz, and the service recovers by itself', async () => {
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
      const { status, body: answer, headers } = await caught;
      expect([status, headers.get('retry-after')]).toEqual([504, '2']);
      expect(answer).toEqual({
        type: 'error',
        code: 'gateway_timeout',
        status: 504,
        message: 'Request could not be processed',
        details: [],
      });
      await eventually(() => seen.get.includes(504) && seen.post.includes(504), 'the load notices');
      const keyed = { token, body, headers: { 'Idempotency-Key': 'while it was away' } };
      expect((await service.call('POST', '/webhook-subscriptions', keyed)).status).toBe(504);
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
      expect(await service.call('POST', '/webhook-subscriptions', keyed)).toMatchObject({ status: 201 });
    } finally {
      await stopLoad();
    }
    expect(new Set(seen.get)).toEqual(new Set([200, 504]));
    expect(new Set(seen.post)).toEqual(new Set([201, 504]));
    expect((await get()).status).toBe(200);
  });

  interface Line {
    level: number;
    path?: string;
    status?: number;
    reason?: string;
    msg?: string;
  }
  const logLines = () => service.logs.map((line) => JSON.parse(line) as Line);

  it('is a warning in the line of each request, and no error', () => {
    const refused = logLines().filter(({ status }) => status === 504);
    expect(new Set(refused.map(({ level }) => level))).toEqual(new Set([40]));
    expect(refused.filter(({ reason }) => !reason)).toEqual([]);
    expect(logLines().filter(({ level }) => level >= 50)).toEqual([]);
  });

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
});

describe('the embedded database', () => {
  const readiness = async (url: string) => (await fetch(`${url}/readyz`)).json();
  const unreachable = { status: 'not ready', reason: 'database unreachable' };
  const postmasterOf = (dataDir: string) =>
    Number.parseInt(readFileSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8'), 10);

  it('is not made anew under a running sandbox whose DATA_DIR was removed', async () => {
    await using dataDir = await newDataDir();
    await using server = await startServer({ DATA_DIR: dataDir.path });
    const postmaster = postmasterOf(dataDir.path);
    await rm(dataDir.path, { recursive: true });
    expect(await readiness(server.url)).toEqual(unreachable);
    // It would notice within a minute that its folder is gone.
    process.kill(postmaster, 'SIGKILL');
    await eventually(() => server.output().includes('start the service again'), 'the log says what to do');
    expect(await readiness(server.url)).toEqual(unreachable);
    expect(existsSync(dataDir.path)).toBe(false);
  });

  it('is not started again when it dies: /readyz and the log say so, and a program that then has its port hears no password, however it asks; a restart finds everything', async () => {
    // A path that is too long for a socket: then the address is a port.
    await using parent = await newDataDir();
    const dataDir = join(parent.path, 'x'.repeat(90));
    const store = (url: string) =>
      createCaller(url)('POST', '/payment-methods', {
        token: signToken(keyIn(dataDir), ['*.write'], 60),
        body: { ...card, external_identifier: 'kept' },
      });
    await using server = await startServer({ DATA_DIR: dataDir });
    const stored = await store(server.url);
    expect(stored.status).toBe(201);
    const { id }: { id: string } = stored.body;
    const { port } = new URL((await runningUrl(dataDir)) ?? '');

    process.kill(postmasterOf(dataDir), 'SIGKILL');
    await eventually(() => server.output().includes('start the service again'), 'the log says what to do');
    expect(await readiness(server.url)).toEqual(unreachable);
    expect(await statusOf(`${server.url}/healthz`)).toBe(200);
    expect(await runningUrl(dataDir)).toBeUndefined();

    const heard: Buffer[] = [];
    let request: Buffer = Buffer.alloc(0);
    const stranger = createServer((socket) => {
      socket.on('error', () => undefined).on('data', (data) => heard.push(data));
      socket.write(request);
    }).listen(Number(port), '127.0.0.1');
    await once(stranger, 'listening');
    for (const kind of ['trust', 'cleartext', 'md5'] as const) {
      request = authentication(kind);
      heard.length = 0;
      expect(await readiness(server.url)).toEqual(unreachable);
      expect((await store(server.url)).status).toBe(504);
      expect(heard.length).toBeGreaterThan(0);
      // Only the greeting: its length, the version of the protocol, user and database.
      for (const data of heard) {
        expect([kind, data.readUInt32BE(0)]).toEqual([kind, data.length]);
        expect([kind, data.readUInt32BE(4)]).toEqual([kind, 0x30000]);
      }
    }
    expect((await server.stop()).status).toBe(0);

    // A start does not even connect to it, and chooses another port.
    heard.length = 0;
    await using again = await startServer({ DATA_DIR: dataDir });
    expect(await store(again.url)).toMatchObject({ status: 409, body: { resource_id: id } });
    expect(heard).toEqual([]);
    stranger.close();
  });
});

/** What PostgreSQL sends first: that the client may go on, or that it must send its password in this way. */
const authentication = (kind: 'trust' | 'cleartext' | 'md5'): Buffer =>
  Buffer.from(
    {
      trust: 'R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I',
      cleartext: 'R\0\0\0\x08\0\0\0\x03',
      md5: 'R\0\0\0\x0c\0\0\0\x05salt',
    }[kind],
    'latin1',
  );
