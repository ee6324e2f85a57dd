// `payments seed` creates plausible and valid transactions, the same ones for the same seed.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { deriveKeys } from '../../server/kit/secrets/derive-keys.ts';
import { transactionMoves } from '../../server/resources/transactions/rules.ts';
import { createSamples } from '../../server/sandbox/sample-transactions.ts';
import { eventually } from '../support/data-dir.ts';
import { paymentsHere } from '../support/in-process.ts';
import { startPayments } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

const until = '2026-11-01T00:00:00Z';
const environment = ({ config }: TestService) => ({
  DATABASE_URL: config.databaseUrl,
  DATA_DIR: config.dataDir,
});
const seed = (service: TestService, ...options: string[]) =>
  paymentsHere(['seed', ...options], environment(service));

const content = async ({ service }: TestService, sequence: string) => {
  const { rows } = await sql<Record<string, unknown>>`
    select * from transactions where metadata ->> 'seed' = ${sequence} order by created_at desc, id desc`.execute(
    service.database.db,
  );
  return rows;
};

it('creates the same transactions in another database, continues a sequence, and all are valid', async () => {
  await using one = await startTestService();
  await using other = await startTestService();
  const parts = [
    await seed(one, '--transactions', '1100', '--seed', '42', '--until', until),
    await seed(one, '--transactions', '150', '--seed', '42', '--until', until),
    await seed(other, '--transactions', '1250', '--seed', '42', '--until', until),
  ];
  expect(parts.map(({ status, stdout, stderr }) => [status, stdout, stderr])).toEqual([
    [0, 'Created 1,100 transactions in default.\n', ''],
    [0, 'Created 150 transactions in default.\n', ''],
    [0, 'Created 1,250 transactions in default.\n', ''],
  ]);
  const [first, second] = [await content(one, '42'), await content(other, '42')];
  expect(first).toHaveLength(1250);
  expect(first).toEqual(second);

  // `call` validates every page against the contract.
  const token = one.token('transactions.read');
  const filter = encodeURIComponent('{"seed":"42"}');
  let listed = 0;
  for (let cursor: string | null = ''; cursor !== null;) {
    const { status, body } = await one.call(
      'GET',
      `/transactions?limit=100&metadata=${filter}${cursor && `&cursor=${cursor}`}`,
      { token },
    );
    expect(status).toBe(200);
    const page = body as { items: unknown[]; next_cursor: string | null };
    listed += page.items.length;
    cursor = page.next_cursor;
  }
  expect(listed).toBe(1250);
});

it('refuses invalid options', async () => {
  await using service = await startTestService();
  for (const [status, options, message] of [
    [2, ['--transactions', '0'], expect.stringContaining('Give a number from 1 to 10000000.\n') as string],
    [
      1,
      ['--transactions', '5', '--merchant-account', 'nowhere'],
      expect.stringContaining('no merchant account nowhere') as string,
    ],
  ] as const) {
    expect(await seed(service, ...options)).toMatchObject({ status, stdout: '', stderr: message });
  }
});

it('the first 300 transactions have every status, and their fields are consistent', () => {
  const sampleAt = createSamples('default', {
    seed: 1,
    until: new Date(until),
    keys: deriveKeys(Buffer.alloc(32)),
  });
  const rows = Array.from({ length: 300 }, (_, index) => sampleAt(index));
  expect(new Set(rows.map(({ id }) => id)).size).toBe(300);
  expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(Object.keys(transactionMoves)));
  for (const row of rows) {
    const isAuthorized = !/^processing|^buyer_|_failed$|_declined$/.test(row.status);
    expect(row.authorized_amount).toBe(isAuthorized ? row.amount : 0);
    expect(row.captured_amount).toBe(row.status === 'capture_succeeded' ? row.amount : 0);
    expect(row.refunded_amount).toBeLessThanOrEqual(row.captured_amount);
    expect(row.settled_amount).toBe(row.settled ? row.captured_amount : 0);
    if (row.settled) expect(row.captured_amount).toBeGreaterThan(0);
    expect(row.created_at <= row.updated_at && row.updated_at <= new Date(until).toISOString()).toBe(true);
    if (row.is_subsequent_payment) expect(row.merchant_initiated).toBe(true);
  }
});

it('Ctrl-C keeps nothing of the run, and says so', async () => {
  await using service = await startTestService();
  const count = async () =>
    (
      await sql<{ total: string }>`select count(*) as total from transactions`.execute(
        service.service.database.db,
      )
    ).rows[0]?.total;
  const before = await count();
  const child = startPayments(['seed', '--transactions', '10000000'], environment(service));
  await eventually(async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and query like 'copy transactions%' and state <> 'idle'
        and xact_start is not null and pid <> pg_backend_pid()`.execute(service.service.database.db);
    return rows.length > 0;
  }, 'it stores transactions');
  child.process.kill('SIGINT');
  const { status, stdout, stderr } = await child.ended;
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: 'Interrupted; no transaction of this run was kept.\n',
  });
  expect(await count()).toBe(before);
});
