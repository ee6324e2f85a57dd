// In production a command needs only the secrets that it uses: whoever lists transactions should not need the keys of cards.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../server/kit/database/database.ts';
import { secretNames } from '../../server/settings.ts';
import { createTestDatabase } from '../support/database.ts';
import { paymentsHere } from '../support/in-process.ts';
import { createAccount, createTransactions } from '../support/records.ts';
import { startTestService, testSecrets } from '../support/service.ts';
import { transaction } from '../support/transactions.ts';

const secrets = testSecrets();
const scratch = mkdtempSync(join(tmpdir(), 'payments-least-'));
let databaseUrl: string;
let database: Database;
const first = transaction({ merchant_account_id: 'shop', status: 'processing' });
beforeAll(async () => {
  databaseUrl = await createTestDatabase();
  const publicUrl = 'https://pay.example';
  const production = { environment: 'production', publicUrl } as const;
  const service = await startTestService({ config: { ...production, databaseUrl, secrets } });
  await service[Symbol.asyncDispose]();
  database = openDatabase(databaseUrl, () => undefined);
  await createAccount(database.db, { id: 'shop', display_name: 'Shop' });
  const second = transaction({ merchant_account_id: 'shop', status: 'processing' });
  await createTransactions(database.db, [first, second]);
});
afterAll(async () => {
  await database.close();
  rmSync(scratch, { recursive: true, force: true });
});

const payments = (args: string[], env: Record<string, string> = {}, input = '') =>
  paymentsHere(args, { ENVIRONMENT: 'production', DATABASE_URL: databaseUrl, ...env }, input);
const succeed = async (args: string[], env: Record<string, string> = {}, input = '') => {
  const { status, stdout, stderr } = await payments(args, env, input);
  expect(status, stderr).toBe(0);
  return stdout;
};
const keyOf = (name: (typeof secretNames)[number]) => ({ [name]: secrets[name][0].toString('base64') });

describe('with ENVIRONMENT and DATABASE_URL alone', () => {
  it.each([
    ['accounts list'],
    ['roles list'],
    ['keys list'],
    ['buyers list --merchant-account shop'],
    ['gift-cards list --merchant-account shop'],
    ['payment-methods list --merchant-account shop'],
    ['transactions list --merchant-account shop'],
    ['transactions show ID'],
    ['webhooks list'],
    ['webhooks deliveries'],
    ['audit'],
    ['database url'],
    ['doctor'],
    // Its key is made at the first use.
    ['accounts create other --name Other'],
    ['roles create reporting --allow transactions.read'],
    ['keys create --name Reports --role reporting'],
    ['transactions move ID authorization_succeeded'],
  ])('payments %s works', async (call) => {
    await succeed(call.replace('ID', first.id).split(' '));
  });

  it('also with DATABASE_URL in a file', async () => {
    const file = join(scratch, 'database-url');
    writeFileSync(file, `${databaseUrl}\n`);
    const env = { ENVIRONMENT: 'production', DATABASE_URL_FILE: file };
    const { status, stdout, stderr } = await paymentsHere(['accounts', 'list', '--json'], env);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('"shop"');
  });
});

describe('a secret that a command uses', () => {
  it.each([
    ['gift-cards create --merchant-account shop', ['CARD_KEY'], '9999000125505678 1111\n'],
    ['secrets rotate', ['CARD_KEY'], ''],
    ['transactions list --merchant-account shop --cursor x', ['CURSOR_KEY'], ''],
  ] as const)('payments %s names %j, and no other', async (call, missing, input) => {
    const { status, stderr } = await payments(call.split(' '), {}, input);
    expect(status).toBe(78);
    expect(secretNames.filter((name) => stderr.includes(`${name} is missing`)).sort()).toEqual(
      [...missing].sort(),
    );
  });

  it('is enough', async () => {
    const create = ['gift-cards', 'create', '--merchant-account', 'shop'];
    await succeed(create, keyOf('CARD_KEY'), '9999000125505678 1111\n');
  });
});

describe('transactions list', () => {
  const list = ['transactions', 'list', '--merchant-account', 'shop', '--limit', '1'];

  it('without CURSOR_KEY says that there are more, and gives no cursor that would be the end', async () => {
    const { status, stderr } = await payments(list);
    expect(status).toBe(0);
    expect(stderr).toContain('There are more. For the next page, set CURSOR_KEY (or CURSOR_KEY_FILE).');
    const page = JSON.parse(await succeed([...list, '--json'])) as object;
    expect(Object.keys(page)).toEqual(['items', 'limit']);
  });

  it('with it has the next page', async () => {
    const page = JSON.parse(await succeed([...list, '--json'], keyOf('CURSOR_KEY'))) as Record<
      string,
      unknown
    >;
    expect(page.next_cursor).toEqual(expect.any(String));
  });
});

describe('doctor', () => {
  it('leaves out what needs a secret, and says so', async () => {
    const text = await succeed(['doctor']);
    expect(text).toMatch(
      /^- everything that is sealed .*\(not checked, because CARD_KEY \(or CARD_KEY_FILE\) is not given\)$/m,
    );
    expect(text).toMatch(/\nAll \d+ checks passed\. 1 was left out\.\n$/);
    const { items } = JSON.parse(await succeed(['doctor', '--json'])) as { items: { skipped?: boolean }[] };
    expect(items.filter(({ skipped }) => skipped)).toHaveLength(1);
  });
});

describe('PUBLIC_URL', () => {
  it('is asked for by a command that needs it, if no service has started yet', async () => {
    const empty = await createTestDatabase();
    const fresh = openDatabase(empty, () => undefined);
    await createAccount(fresh.db, { id: 'shop', display_name: 'Shop' });
    const row = transaction({ merchant_account_id: 'shop', status: 'processing' });
    await createTransactions(fresh.db, [row]);
    await fresh.db.deleteFrom('settings').where('name', '=', 'public_url').execute();
    await fresh.close();
    const { status, stderr } = await payments(['transactions', 'move', row.id, 'authorization_succeeded'], {
      DATABASE_URL: empty,
    });
    expect([status, stderr]).toEqual([78, expect.stringContaining('PUBLIC_URL is missing')]);
  });
});
