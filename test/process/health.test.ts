// The database is frozen, slow, crowded, read-only or not migrated: health checks tell, every request is answered in the contract's shape,
// and the service recovers by itself.
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findUnready } from '../../server/database.ts';
import { handlers } from '../../server/handlers/index.ts';
import { withinDeadline } from '../../server/kit/database/connection.ts';
import { inTransactionOnce, openDatabase } from '../../server/kit/database/database.ts';
import { card } from '../support/card.ts';
import { eventually, newDataDir } from '../support/data-dir.ts';
import { createTestDatabase, withClient } from '../support/database.ts';
import { startOwnDatabase, type OwnDatabase } from '../support/freeze.ts';
import { startServer } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

async function healthOf({ url }: { url: string }) {
  const [health, ready] = await Promise.all([fetch(`${url}/healthz`), fetch(`${url}/readyz`)]);
  return { health: health.status, ready: ready.status, body: await ready.json() };
}
const ready = { health: 200, ready: 200, body: { status: 'ready' } };
const notReady = (reason: string) => ({ health: 200, ready: 503, body: { status: 'not ready', reason } });

const isServed = async ({ call, token }: TestService) => {
  const posted = await call('POST', '/payment-methods', { token: token('*.write'), body: card });
  return posted.status === 201;
};

describe('a database of its own', () => {
  let database: OwnDatabase;
  let service: TestService;
  beforeAll(async () => {
    database = await startOwnDatabase();
    service = await startTestService({ config: { databaseUrl: database.url } });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  const isIdle = () => {
    const { database } = service.service;
    return [database, database.background].every(
      (one) => one.usage().inUse === 0 && one.usage().waiting === 0,
    );
  };
  const openTransactions = () =>
    withClient(database.url, async (client) => {
      const { rows } = await client.query<{ query: string }>(
        `select query from pg_stat_activity where application_name like 'payments-service%' and xact_start is not null`,
      );
      return rows;
    });

  it.runIf(process.platform === 'linux')(
    'answers nothing while it is frozen: every request returns 504 all the same, and nothing is left open',
    async () => {
      const token = service.token('*.read', '*.write');
      // No more of them than one account may hold connections: whoever waits for others of its account gets 429 where there is a limit.
      const writer = (await service.pair({ accounts: ['marketplace'] })).token('*.write');
      const post = (path: string, body: object, key?: string) =>
        service.call('POST', path, { token: writer, body, headers: key ? { 'Idempotency-Key': key } : {} });
      // Every connection for requests is open, so that those which hang are connections in use.
      await Promise.all(
        Array.from({ length: 10 }, () => service.call('GET', '/transactions', { token, headers: {} })),
      );
      database.freeze();
      try {
        // All of them are answered while it is still frozen, so each by its own limit.
        const answers = await Promise.all([
          ...Array.from({ length: 12 }, () => service.call('GET', '/transactions', { token })),
          ...Array.from({ length: 6 }, () => post('/payment-methods', card)),
          ...Array.from({ length: 3 }, (_, index) => post('/payment-methods', card, `frozen-${index}`)),
          post('/webhook-subscriptions', { url: 'https://receiver.example/hook' }),
        ]);
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([504]));
        expect(service.logs.filter((line) => line.includes('"level":50'))).toEqual([]);
        expect(await healthOf(service)).toEqual(notReady('database unreachable'));
      } finally {
        database.thaw();
      }
      await eventually(() => isServed(service), 'requests are served again');
      await eventually(async () => (await healthOf(service)).ready === 200, '/readyz says yes again');
      await eventually(isIdle, 'no connection is held');
      await eventually(async () => (await openTransactions()).length === 0, 'no transaction is open');
      // A key that was claimed in vain is free again, at the latest when its lease ends.
      await eventually(
        async () => (await post('/payment-methods', card, 'frozen-0')).status === 201,
        'the same request is carried out',
      );
    },
  );
});

describe('a database whose new sessions are read-only', () => {
  it('makes /readyz 503 although older sessions can write, and no session outlives the setting', async () => {
    const databaseUrl = await createTestDatabase();
    await using service = await startTestService({ config: { databaseUrl } });
    const name = new URL(databaseUrl).pathname.slice(1);
    const run = (text: string) =>
      withClient(databaseUrl, async (client) => {
        await client.query('set default_transaction_read_only = off');
        await client.query(text);
      });
    await isServed(service);
    await run(`alter database ${name} set default_transaction_read_only = on`);
    expect(await healthOf(service)).toEqual(notReady('database read-only'));
    // So that the pools have only sessions which cannot write.
    await run(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = '${name}' and pid <> pg_backend_pid()`);
    const { call, token } = service;
    const list = () => call('GET', '/transactions', { token: token('*.read') });
    await eventually(async () => (await list()).status === 200, 'the pool has connections again');
    const posted = await call('POST', '/payment-methods', { token: token('*.write'), body: card });
    expect(posted.status).toBe(504);
    await run(`alter database ${name} reset default_transaction_read_only`);
    expect(await healthOf(service)).toEqual(ready);
    await eventually(() => isServed(service), 'writes succeed again');
  });
});

describe('a database that lacks migrations', () => {
  it('makes /readyz 503 until they are there', async () => {
    await using service = await startTestService();
    const { db } = service.service.database;
    await sql`update applied_migrations set name = 'x' || name where name like '0001%'`.execute(db);
    expect(await healthOf(service)).toEqual(notReady('migrations missing'));
    await sql`update applied_migrations set name = substr(name, 2) where name like 'x%'`.execute(db);
    expect(await healthOf(service)).toEqual(ready);
    await sql`alter table applied_migrations rename to elsewhere`.execute(db);
    expect(await healthOf(service)).toEqual(notReady('migrations missing'));
  });
});

describe('a database whose list of migrations is locked', () => {
  it('makes /readyz 503, and no session waits for the lock when the answer has been given', async () => {
    const databaseUrl = await createTestDatabase();
    await withClient(databaseUrl, async (client) => {
      await client.query('begin; lock table applied_migrations in access exclusive mode');
      expect(await findUnready(databaseUrl)).toBe('database unreachable');
      const countWaiting = async () => {
        const { rowCount } = await client.query(
          `select from pg_locks where not granted and relation = 'applied_migrations'::regclass`,
        );
        return rowCount;
      };
      await eventually(async () => (await countWaiting()) === 0, 'no session waits');
      await client.query('rollback');
      expect(await findUnready(databaseUrl)).toBeUndefined();
    });
  });
});

describe('a slow database', () => {
  it('has a limit for all statements of a request together; what is under way is ended', async () => {
    await using service = await startTestService({
      handlers: {
        ...handlers,
        listTransactions: async (_input, { db }) => {
          for (let statement = 1; statement <= 3; statement++) await sql`select pg_sleep(2)`.execute(db);
          throw new Error('there was no limit');
        },
      },
    });
    const { status } = await service.call('GET', '/transactions', { token: service.token('*.read') });
    expect(status).toBe(504);
    expect(service.logs.join('')).toContain('the database did not answer within');
    const { usage, background } = service.service.database;
    expect(usage().inUse).toBe(0);
    await eventually(async () => {
      const { rowCount } = await background.query(
        `select from pg_stat_activity where datname = current_database() and query like 'select pg_sleep%'
         and state = 'active'`,
      );
      return rowCount === 0;
    }, 'the last statement has ended');
  });

  it('leaves no transaction open when there is no time for its rollback', async () => {
    const database = openDatabase(await createTestDatabase(), () => undefined, { size: 1 });
    const deadline = { left: 1_000 };
    const spendAll = () =>
      withinDeadline(
        deadline,
        Infinity,
        () => sleep(60_000),
        () => undefined,
      ).catch(() => undefined);
    const work = inTransactionOnce(database.dbFor({ deadline }), async (tx) => {
      await sql`select 1`.execute(tx);
      await spendAll();
      throw new Error('a fault');
    });
    await expect(work).rejects.toThrow();
    // The only connection of the pool: it would be in the same transaction.
    const { rows } = await database.query<{ begun: boolean }>(
      `select xact_start = statement_timestamp() as begun from pg_stat_activity where pid = pg_backend_pid()`,
    );
    expect(rows[0]?.begun).toBe(true);
    await database.close();
  });
});

describe('a database that does not answer before the caller has left', () => {
  it('is told in the log all the same', async () => {
    await using service = await startTestService();
    const token = service.token('*.read');
    expect((await service.call('GET', '/transactions', { token })).status).toBe(200);
    const leaving = new AbortController();
    const { background } = service.service.database;
    const client = await background.connect();
    await client.query('begin; lock table transactions in access exclusive mode');
    const asked = fetch(`${service.url}/transactions`, {
      headers: { Authorization: `Bearer ${token}` },
      signal: leaving.signal,
    }).catch(() => 'gone');
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await eventually(async () => (await background.query(waiting)).rowCount === 1, 'it waits');
    leaving.abort();
    expect(await asked).toBe('gone');
    const told = () => service.logs.map((line) => JSON.parse(line) as { level: number; reason?: string });
    await eventually(
      () => told().some(({ level, reason }) => level === 40 && /statement timeout/.test(reason ?? '')),
      'a warning has the reason',
    );
    expect(told().filter(({ level }) => level > 40)).toEqual([]);
    await client.query('rollback');
    client.release();
  });
});

describe('a database whose connections for an account are all in use', () => {
  it('makes requests of that account 504, and 429 where there is a limit; their keys can be used again', async () => {
    await using service = await startTestService();
    const token = service.token('*.read', '*.write');
    const headers = { 'Idempotency-Key': 'crowded' };
    const body = { url: 'https://receiver.example/hook' };
    const subscribe = () => service.call('POST', '/webhook-subscriptions', { token, headers, body });
    const { connect } = service.service.database;
    const owner = { keyPair: 'another', account: 'default' };
    const held = await Promise.all(Array.from({ length: 5 }, () => connect({ owner })));
    const account = { 'X-Service-Merchant-Account-ID': 'default' };
    const answers = await Promise.all([
      service.call('GET', '/transactions', { token, headers: account }),
      subscribe(),
      service.call('POST', '/payment-methods', { token, headers: account, body: card }),
    ]);
    for (const connection of held) connection.release();
    expect(answers.map(({ status }) => status)).toEqual([504, 504, 429]);
    expect(await subscribe()).toMatchObject({ status: 201 });
  });

  it('makes a list 504 whose 429 the contract reserves', async () => {
    await using service = await startTestService();
    const list = () => service.call('GET', '/api-key-pairs', { token: service.token('*.read') });
    const { items } = (await list()).body as { items: { id: string }[] };
    const { connect, usage } = service.service.database;
    const owner = { keyPair: items[0]?.id ?? '', account: undefined };
    const held = await Promise.all(Array.from({ length: 0.6 * usage().most }, () => connect({ owner })));
    const { status } = await list();
    for (const connection of held) connection.release();
    expect(status).toBe(504);
  });

  it('makes others 504 when the pool has none left', async () => {
    await using service = await startTestService({ config: { webhookWorker: false } });
    const { connect, usage } = service.service.database;
    const held = await Promise.all(Array.from({ length: usage().most }, () => connect()));
    const token = service.token('*.read', '*.write');
    const answers = await Promise.all([
      service.call('GET', '/api-key-pairs', { token }),
      service.call('POST', '/payment-methods', { token, body: card }),
    ]);
    for (const connection of held) connection.release();
    expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
      [504, '2'],
      [504, '2'],
    ]);
  });
});

describe('SHUTDOWN_DELAY', () => {
  it('is a time in which requests are served on connections that then end, and /readyz is 503', async () => {
    await using dataDir = await newDataDir();
    const DATABASE_URL = await createTestDatabase();
    await using server = await startServer({ DATA_DIR: dataDir.path, DATABASE_URL, SHUTDOWN_DELAY: '300' });
    expect(await healthOf(server)).toEqual(ready);
    server.signal();
    await eventually(() => server.output().includes('stopping'), 'it heard the signal');
    expect(await healthOf(server)).toEqual(notReady('stopping'));
    const { status, headers } = await fetch(`${server.url}/openapi.json`);
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
  });
});

it('/readyz is 503 after the pool was ended', async () => {
  await using service = await startTestService();
  expect(await healthOf(service)).toEqual(ready);
  await service.service.database.close();
  expect(await healthOf(service)).toEqual(notReady('database closed'));
});
