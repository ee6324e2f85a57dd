// A database whose role or administrator chose other defaults: the service sets what it depends on itself.
import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { findUnready, openReadyDatabase } from '../../server/database.ts';
import { inTransaction, openDatabase } from '../../server/kit/database/database.ts';
import { migrations } from '../../server/migrations/index.ts';
import { untilAnswered } from '../support/call.ts';
import { urlOf, withClient } from '../support/cluster.ts';
import { createEmptyDatabase, createTestDatabase, query } from '../support/database.ts';
import { paymentsHere } from '../support/in-process.ts';
import { createAccount } from '../support/records.ts';
import { productionEnv, startTestService, testSecrets } from '../support/service.ts';

/** Of the database, for all of its sessions from now on. */
async function withDefaults(url: string, isolation: string, ...more: string[]): Promise<string> {
  const name = new URL(url).pathname.slice(1);
  await withClient(inject('serverUrl'), async (client) => {
    const defaults = [
      `default_transaction_isolation = '${isolation}'`,
      "datestyle = 'German'",
      "timezone = 'Asia/Kathmandu'",
      ...more,
    ];
    for (const setting of defaults) await client.query(`alter database ${name} set ${setting}`);
  });
  return url;
}

it.each([
  [false, 0],
  [false, 3_000],
  [true, 0],
  [true, 3_000],
])(
  'no statement has the defaults (behind a pooler: %s; limit: %i ms)',
  async (isPooled, statementMilliseconds) => {
    const url = await withDefaults(await createTestDatabase(), 'serializable', "idle_session_timeout = '1h'");
    const database = openDatabase(url, () => undefined, { isPooled, statementMilliseconds });
    const text = `select current_setting('transaction_isolation') as isolation, current_setting('idle_session_timeout') as idle,
      current_setting('datestyle') as dates, now() as now`;
    const expected = {
      // It would end connections just before they are used. Those of a pooler are not the service's: see docs/operating.md.
      idle: isPooled ? '1h' : '0',
      isolation: 'read committed',
      dates: expect.stringMatching(/^ISO, /) as string,
      now: expect.any(Date) as Date,
    };
    expect((await database.query(text)).rows).toEqual([expected]);
    const inside = await inTransaction(database.db, (tx) => sql.raw(text).execute(tx));
    expect(inside.rows).toEqual([expected]);
    await database.close();
    expect(await findUnready(url)).toBeUndefined();
  },
);

describe.each([undefined, 'transaction'] as const)('with DATABASE_POOLER=%s', (databasePooler) => {
  it.each(['repeatable read', 'serializable'])(
    'limits are exact and writes succeed, under %s',
    async (isolation) => {
      const databaseUrl = await withDefaults(await createTestDatabase('furnished'), isolation);
      await using service = await startTestService({
        config: { databaseUrl, databasePooler, webhookWorker: false },
        firstStart: false,
      });
      const { db } = service.service.database;
      await createAccount(db, { id: 'limits', display_name: 'Limits' });
      await sql`
      insert into webhook_subscriptions (merchant_account_id, active, url, secret_sealed)
      select 'limits', true, 'https://shop.example/', 'sealed' from generate_series(1, 46)`.execute(db);
      const token = service.token('*.read', '*.write');
      const body = { url: 'https://shop.example/', active: true, authentication: null };
      const create = () => {
        const headers = { 'X-Service-Merchant-Account-ID': 'limits', 'Idempotency-Key': randomUUID() };
        return untilAnswered(() => service.call('POST', '/webhook-subscriptions', { token, body, headers }));
      };
      const answers = await Promise.all(Array.from({ length: 20 }, create));
      const counted = (status: number) => answers.filter((answer) => answer.status === status).length;
      expect([counted(201), counted(422)]).toEqual([4, 16]);
      const card = { method: 'card', number: '4111111111111111', expiration_date: '12/39' };
      const stored = await service.call('POST', '/payment-methods', { token, body: card });
      const isoTime = expect.stringMatching(/^2\d{3}-\d\d-\d\dT/) as string;
      expect(stored).toMatchObject({ status: 201, body: { created_at: isoTime } });
    },
  );

  it('several instances that start at once apply each migration once', async () => {
    const databaseUrl = await withDefaults(await createEmptyDatabase(), 'repeatable read');
    const isPooled = databasePooler !== undefined;
    const open = () =>
      openReadyDatabase({
        ...{
          databaseUrl,
          environment: 'sandbox',
          dataDir: '/nowhere',
          log: () => undefined,
          size: 2,
          isPooled,
        },
      });
    const waiting = "select from pg_locks where locktype = 'advisory' and not granted";
    const stores = await withClient(databaseUrl, async (client) => {
      // Until all of them wait for it.
      await client.query("select pg_advisory_lock(hashtextextended('migrations', 0))");
      const opening = [open(), open(), open()];
      await vi.waitUntil(async () => (await query(databaseUrl, waiting)).length === opening.length, {
        timeout: 60_000,
      });
      await client.query("select pg_advisory_unlock(hashtextextended('migrations', 0))");
      return Promise.all(opening);
    });
    await Promise.all(stores.map((store) => store.close()));
    expect(stores.flatMap(({ migrated }) => migrated).sort()).toEqual(Object.keys(migrations).sort());
  });
});

it.each(['LATIN1', 'SQL_ASCII'])('a new database with the encoding %s is refused', async (encoding) => {
  const name = `test_encoding_${randomBytes(5).toString('hex')}`;
  const server = inject('serverUrl');
  await withClient(server, (client) =>
    client.query(`create database ${name} encoding '${encoding}' locale 'C' template template0`),
  );
  onTestFinished(() =>
    withClient(server, (client) => client.query(`drop database ${name}`)).then(() => undefined),
  );
  const env = productionEnv({ databaseUrl: urlOf(server, name), secrets: testSecrets() });
  const refusalOf = async (...args: string[]) => {
    const { status, stderr } = await paymentsHere(args, env);
    return [status, stderr];
  };
  const create = ['accounts', 'create', 'default', '--name', 'Default'];
  expect(await refusalOf(...create)).toEqual([
    1,
    `The database has the encoding ${encoding}, which cannot store and count every text. Create it anew: createdb --encoding=UTF8 --template=template0 NAME\n`,
  ]);
  // What only reads would not create it.
  expect(await refusalOf('accounts', 'list')).toEqual([1, expect.stringContaining('Check DATABASE_URL')]);
});
