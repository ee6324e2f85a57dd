// DATABASE_POOLER=transaction, tried with Debian's PgBouncer 1.18: everything starts and works, and nothing stays behind in a
// session. And what its session mode needs.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { signToken } from '../../server/kit/access/token.ts';
import { inTransaction, openDatabase } from '../../server/kit/database/database.ts';
import { createRecordCall } from '../../server/kit/database/rate-limits.ts';
import { ConfigurationFault, reasonOf } from '../../server/kit/faults.ts';
import { createCaller } from '../support/call.ts';
import { card } from '../support/card.ts';
import { eventually, newDataDir } from '../support/data-dir.ts';
import { createEmptyDatabase, createTestDatabase, withClient } from '../support/database.ts';
import { paymentsHere } from '../support/in-process.ts';
import { keyIn } from '../support/keys.ts';
import { hasPgBouncer, startPgBouncer, type PgBouncer } from '../support/pgbouncer.ts';
import { createPayments, startServer, type Env } from '../support/processes.ts';
import { startTestService } from '../support/service.ts';

if (!hasPgBouncer) console.warn('The tests of DATABASE_POOLER are skipped: apt-get install pgbouncer');

const countAdvisoryLocks = (url: string) =>
  withClient(url, async (client) => {
    const { rowCount } = await client.query(
      `select from pg_locks where locktype = 'advisory'
       and database = (select oid from pg_database where datname = current_database())`,
    );
    return rowCount;
  });

describe.skipIf(!hasPgBouncer)('behind PgBouncer in transaction mode', () => {
  let bouncer: PgBouncer;
  beforeAll(async () => {
    bouncer = await startPgBouncer(inject('serverUrl'), 10);
  });
  afterAll(() => bouncer[Symbol.asyncDispose]());

  it('instances and commands that start at once on an empty database serve, rotate keys, and leave no lock', async () => {
    const direct = await createEmptyDatabase();
    await using dataDir = await newDataDir();
    const env = {
      DATA_DIR: dataDir.path,
      DATABASE_URL: bouncer.urlOf(direct),
      DATABASE_POOLER: 'transaction',
    };
    const payments = createPayments(env);
    const roles = ['first', 'second', 'third'];
    const commands = [...roles.map((role) => ['roles', 'create', role, '--allow', '*.read']), ['doctor']];
    const [servers, ended] = await Promise.all([
      Promise.all([startServer(env), startServer(env), startServer(env)]),
      Promise.all(commands.map((args) => payments(args))),
    ]);
    try {
      // `doctor` creates nothing: it may come before the first migration.
      expect(ended.slice(0, 3).map(({ status, stderr }) => [status, stderr.includes('ault')])).toEqual([
        [0, false],
        [0, false],
        [0, false],
      ]);
      const key = keyIn(dataDir.path);
      const token = signToken(key, ['*.read', '*.write'], 3600);
      const embed = signToken(key, ['embed'], 3600);
      const balances = { items: [{ number: '4123456789012345', pin: '1234' }] };
      const callAll = async () => {
        const answers = await Promise.all(
          servers.flatMap(({ url }) => {
            const call = createCaller(url);
            return [
              call('GET', '/transactions', { token }),
              call('POST', '/payment-methods', { token, body: card, headers: { 'Idempotency-Key': url } }),
              // The library that counts them uses named statements.
              ...Array.from({ length: 5 }, () =>
                call('POST', '/gift-cards/balances', { token: embed, body: balances }),
              ),
            ];
          }),
        );
        return new Set(answers.map(({ status }) => status));
      };
      expect(await callAll()).toEqual(new Set([200, 201]));
      for (const { url } of servers) expect((await fetch(`${url}/readyz`)).status).toBe(200);

      const rotated = await payments(['secrets', 'rotate']);
      expect(rotated.stdout).toContain('no value uses another key');
      expect(rotated.status).toBe(0);
      expect(await callAll()).toEqual(new Set([200, 201]));
      // Daily jobs of the start may still hold some.
      await eventually(async () => (await countAdvisoryLocks(direct)) === 0, 'no advisory lock is left');
    } finally {
      for (const server of servers) await server[Symbol.asyncDispose]();
    }
  });

  it('lost keys are replaced, and a rotation asks, although the pooler keeps connections of a service that has stopped', async () => {
    const direct = await createTestDatabase('furnished');
    const pooled = { databaseUrl: bouncer.urlOf(direct), databasePooler: 'transaction' } as const;
    const service = await startTestService({ config: pooled });
    const token = service.token('*.write');
    expect((await service.call('POST', '/payment-methods', { token, body: card })).status).toBe(201);
    await service[Symbol.asyncDispose]();
    const run = (words: string, env: Env) =>
      paymentsHere(words.split(' '), {
        ...{ DATABASE_URL: pooled.databaseUrl, DATA_DIR: service.config.dataDir },
        ...{ CARD_KEY: randomBytes(32).toString('base64'), ...env },
      });
    const replace = 'secrets replace-lost-keys';
    const setting = { DATABASE_POOLER: 'transaction' };

    // First, because each command that goes through the pooler gives its name to a connection.
    const unset = await run(`${replace} --yes`, { DATABASE_URL: direct });
    expect([unset.status, unset.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^The service is connected .* DATABASE_POOLER=transaction\. Nothing was changed\.\n$/,
      ),
    ]);

    const known = [randomBytes(32), ...(service.config.secrets.CARD_KEY ?? [])].map((key) =>
      key.toString('base64'),
    );
    const rotated = await run('secrets rotate', {
      ...setting,
      CARD_KEY: known.join(','),
      ENVIRONMENT: 'production',
    });
    expect([rotated.status, rotated.stderr]).toEqual([
      1,
      expect.stringMatching(/^Behind a pooler, .* --yes\. Nothing/),
    ]);

    const asked = await run(replace, setting);
    expect(asked.stderr).toMatch(
      /\nBehind a pooler, .* make sure that every one has stopped\.\nReplace them\?/,
    );
    const CARD_KEY = randomBytes(32).toString('base64');
    const replaced = await run(`${replace} --yes`, { ...setting, CARD_KEY });
    expect([replaced.status, replaced.stderr]).toEqual([0, '']);
  });

  it('a statement has its limit by itself and in a transaction, and no session keeps it', async () => {
    const url = bouncer.urlOf(await createTestDatabase());
    const limited = openDatabase(url, () => undefined, {
      isPooled: true,
      statementMilliseconds: 7_000,
    });
    const show = `select current_setting('statement_timeout') as limit, current_setting('jit') as jit`;
    const alone = await limited.query(show);
    const inOne = await inTransaction(limited.db, (tx) => sql.raw(show).execute(tx));
    const own = { limit: '7s', jit: 'off' };
    expect([alone.rows, inOne.rows]).toEqual([[own], [own]]);
    await expect(limited.query('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
    await expect(limited.query('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
    const other = openDatabase(url, () => undefined, { isPooled: true, statementMilliseconds: 0 });
    expect((await other.query(show)).rows).toEqual([{ limit: '0', jit: 'on' }]);
    expect((await other.query('select from pg_prepared_statements')).rowCount).toBe(0);
    await limited.close();
    await other.close();
  });
});

describe.skipIf(!hasPgBouncer)('behind PgBouncer in session mode', () => {
  const ignored = 'ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout';
  const start = async (databasePooler: 'transaction' | undefined, more?: string) => {
    const bouncer = await startPgBouncer(inject('serverUrl'), 20, 'session', more);
    onTestFinished(() => bouncer[Symbol.asyncDispose]());
    const databaseUrl = bouncer.urlOf(await createTestDatabase());
    return startTestService({ config: { databaseUrl, databasePooler } });
  };

  it('a start without a setting says what to set, in words that the guide has too', async () => {
    const fault: unknown = await start(undefined).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(ConfigurationFault);
    const refusal = reasonOf(fault);
    expect(refusal).toMatch(
      /unsupported startup parameter: (statement_timeout|idle_in_transaction_session_timeout)/,
    );
    expect(refusal).toContain('DATABASE_POOLER=transaction');
    expect(refusal).toContain(ignored);
    expect(refusal).not.toContain('Check DATABASE_URL');
    const guide = await readFile('docs/operating.md', 'utf8');
    expect(guide.replace(/\s+/g, ' ')).toContain(ignored);
  });

  it.each([
    ['DATABASE_POOLER=transaction', 'transaction' as const, undefined],
    ['what the message names in its settings', undefined, ignored],
  ])('it works with %s', async (_name, databasePooler, more) => {
    await using service = await start(databasePooler, more);
    const token = service.token('*.read', '*.write');
    const { status } = await service.call('POST', '/payment-methods', { token, body: card });
    expect(status).toBe(201);
    expect((await service.call('GET', '/transactions', { token })).status).toBe(200);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  });
});

describe('without a pooler', () => {
  it('limits are those of the session, and named statements are used', async () => {
    const database = openDatabase(await createTestDatabase(), () => undefined, {
      size: 1,
      statementMilliseconds: 7_000,
    });
    const { query } = database;
    const limit = { scope: 'test', limit: 5, windowSeconds: 60 };
    // What runs the second time is named.
    const recordCall = createRecordCall(() => database.db);
    const calling = { owner: { keyPair: 'one', account: undefined }, deadline: { left: 5_000 } };
    for (const _ of [1, 2]) await recordCall(calling, limit, 'somebody');
    const { rows } = await query(
      `select current_setting('statement_timeout') as limit, count(*) as named from pg_prepared_statements`,
    );
    expect(rows).toEqual([{ limit: '7s', named: 1 }]);
    await database.close();
  });
});
