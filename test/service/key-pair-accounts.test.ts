// Which accounts a key pair has access to: as this version stores it, as 1.1.0 does beside it, and after a deletion by hand.
import { createPublicKey, randomUUID, type KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { updateAccountsOf } from '../../server/kit/access/key-pairs/changes.ts';
import { generateKeyPair, signToken, thumbprint } from '../../server/kit/access/token.ts';
import { card } from '../support/card.ts';
import { paymentsHere } from '../support/in-process.ts';
import { createAccount, createApiKeyPair, silentWork } from '../support/records.ts';
import { noSecrets, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ config: { secrets: noSecrets, webhookWorker: false } });
});
afterAll(() => service[Symbol.asyncDispose]());

const db = () => service.service.database.db;
const payments = (...args: string[]) => {
  const { databaseUrl: DATABASE_URL, dataDir: DATA_DIR } = service.config;
  return paymentsHere(args, { DATABASE_URL, DATA_DIR });
};

interface Pair {
  id: string;
  key: KeyObject;
}

/** The status for each account: 200, or 404 without access to it. */
async function statuses({ key }: Pair, accounts = ['default', 'marketplace']): Promise<number[]> {
  const token = signToken(key, ['*.read'], 600);
  const of = async (account: string) => {
    const headers = { 'X-Service-Merchant-Account-Id': account };
    return (await service.call('GET', '/transactions?limit=1', { token, headers })).status;
  };
  return Promise.all(accounts.map(of));
}

interface Shown {
  id: string;
  active: boolean;
  merchant_accounts: { id: string }[];
}

/** As the API lists it. */
async function shown({ id }: { id: string }): Promise<{ active: boolean; accounts: string[] } | undefined> {
  const { body } = await service.call('GET', '/api-key-pairs?limit=100', { token: service.token('*.read') });
  const pair = (body as { items: Shown[] }).items.find((one) => one.id === id);
  return pair && { active: pair.active, accounts: pair.merchant_accounts.map((account) => account.id) };
}

/** As people see it. */
const listed = async ({ id }: { id: string }): Promise<string> =>
  (await payments('keys', 'list')).stdout.split('\n').find((line) => line.includes(id)) ?? '';

const deleteRows = ({ id }: { id: string }) =>
  sql`delete from api_key_pair_merchant_accounts where api_key_pair_id = ${id}`.execute(db());

/** The statements of `payments keys create` of 1.1.0. */
async function createByRelease(accounts: readonly string[]): Promise<Pair> {
  const { privateKey: key } = generateKeyPair('ECDSA');
  const id = await silentWork(db(), async ({ db: tx }) => {
    const publicKey = createPublicKey(key).export({ type: 'spki', format: 'pem' });
    const { rows } = await sql<{ id: string }>`
      insert into "api_key_pairs" ("thumbprint", "display_name", "algorithm", "public_key", "creator_id", "creator_name",
        "creator_email_address", "creator_thumbprint")
      values (${thumbprint(key)}, 'Of 1.1.0', 'ECDSA', ${publicKey}, null, null, null, null) returning "id"`.execute(
      tx,
    );
    const own = rows[0]?.id ?? '';
    await sql`
      insert into "api_key_pair_roles" ("api_key_pair_id", "role_id")
      select ${own}, id from roles where slug = 'administrator'`.execute(tx);
    for (const account of accounts)
      await sql`
        insert into "api_key_pair_merchant_accounts" ("api_key_pair_id", "merchant_account_id")
        values (${own}, ${account})`.execute(tx);
    return own;
  });
  return { id, key };
}

/** What 1.1.0 reads: `findSigningPair` of commit 9af9baef, as Kysely sends it. */
async function readByRelease({ key }: Pair): Promise<'all' | { only: string[] }> {
  const { rows } = await sql<{ active: boolean; only: string[] }>`
    select "id", "algorithm", "public_key", "active", array(select distinct unnest(r.permissions) from roles r
        join api_key_pair_roles own on own.role_id = r.id where own.api_key_pair_id = "api_key_pairs"."id") as "permissions", array(select merchant_account_id from api_key_pair_merchant_accounts
        where api_key_pair_id = "api_key_pairs"."id") as "only" from "api_key_pairs" where "thumbprint" = ${thumbprint(key)}`.execute(
    db(),
  );
  const [found] = rows;
  if (!found?.active) throw new Error('1.1.0 refuses the key pair.');
  return found.only.length === 0 ? 'all' : { only: found.only };
}

it('a request that names no account is about the oldest that the key pair has access to', async () => {
  await using own = await startTestService({ config: { webhookWorker: false } });
  // The oldest stands between others by ID, in the order in which they are created, and in that in which the key pair names them.
  const years = { 'zone-new': 2021, 'deck-first': 2019, 'shop-oldest': 2018, 'acme-later': 2020 };
  for (const [id, year] of Object.entries(years))
    await createAccount(own.service.database.db, {
      id,
      display_name: id,
      created_at: new Date(`${year}-01-01`),
    });
  const accountOf = async ({ token }: Pick<TestService, 'token'>) => {
    const { body } = await own.call('POST', '/payment-methods', { token: token('*.write'), body: card });
    return (body as { merchant_account_id: string }).merchant_account_id;
  };
  const some = ['zone-new', 'deck-first', 'acme-later'];
  expect(await accountOf(await own.pair({ accounts: some }))).toBe('deck-first');
  expect(await accountOf(await own.pair())).toBe('shop-oldest');
});

describe('a key pair whose accounts were deleted by hand', () => {
  it('is refused with 401, and listed as inactive, instead of reading every account', async () => {
    const pair = await service.pair({ accounts: ['marketplace'] });
    await deleteRows(pair);
    expect(await statuses(pair)).toEqual([401, 401]);
    expect(await shown(pair)).toEqual({ active: false, accounts: [] });
    expect(await listed(pair)).toMatch(/ false .* none /);
    expect(await listed(await service.pair())).toMatch(/ true .* all /);
  });

  it('is shown to those who have access to all accounts only', async () => {
    const [pair, other] = [
      await service.pair({ accounts: ['default'] }),
      await service.pair({ accounts: ['default'] }),
    ];
    await deleteRows(pair);
    const { body } = await service.call('GET', '/api-key-pairs?limit=100', {
      token: other.token('*.read'),
    });
    const ids = (body as { items: Shown[] }).items.map(({ id }) => id);
    expect([ids.includes(other.id), ids.includes(pair.id)]).toEqual([true, false]);
  });

  it('works again with the accounts that keys update gives it', async () => {
    const pair = await service.pair({ accounts: ['marketplace'] });
    await deleteRows(pair);
    expect((await payments('keys', 'update', pair.id, '--merchant-account', 'default')).status).toBe(0);
    expect(await statuses(pair)).toEqual([200, 404]);
    expect(await shown(pair)).toEqual({ active: true, accounts: ['default'] });
  });
});

describe('1.1.0 beside this version', () => {
  it('what it creates for all accounts has access to all', async () => {
    const pair = await createByRelease([]);
    expect(await statuses(pair)).toEqual([200, 200]);
    expect(await shown(pair)).toEqual({ active: true, accounts: [] });
  });

  it('what it creates for some accounts has access to these, and to none once they are deleted', async () => {
    const [pair, emptied] = [await createByRelease(['marketplace']), await createByRelease(['marketplace'])];
    expect(await statuses(pair)).toEqual([404, 200]);
    await deleteRows(emptied);
    expect(await statuses(emptied)).toEqual([401, 401]);
  });

  it('a restore of data alone, which names no schema to look in, adds accounts, too', async () => {
    const pair = await createByRelease([]);
    await silentWork(db(), async ({ db: tx }) => {
      await sql`set local search_path = ''`.execute(tx);
      await sql`insert into public.api_key_pair_merchant_accounts values (${pair.id}, 'default')`.execute(tx);
    });
    expect(await statuses(pair)).toEqual([200, 404]);
    await deleteRows(pair);
    expect(await shown(pair)).toEqual({ active: false, accounts: [] });
  });

  it('accounts that come without triggers, as by logical replication, are the only ones, and none is left once they are deleted', async () => {
    const pair = await createByRelease([]);
    await silentWork(db(), async ({ db: tx }) => {
      await sql`set local session_replication_role = replica`.execute(tx);
      await sql`insert into api_key_pair_merchant_accounts values (${pair.id}, 'default')`.execute(tx);
    });
    expect(await shown(pair)).toEqual({ active: true, accounts: ['default'] });
    await deleteRows(pair);
    expect(await shown(pair)).toEqual({ active: false, accounts: [] });
    expect(await statuses(pair)).toEqual([401, 401]);
  });

  it('its query reads what this version creates and updates', async () => {
    const create = async (accounts: 'all' | { only: string[] }) => {
      const { privateKey: key } = generateKeyPair('ECDSA');
      const wanted = { privateKey: key, name: 'Of this version', roles: ['administrator'], accounts };
      const { id } = await createApiKeyPair(db(), wanted);
      return { id, key };
    };
    const [wide, narrow] = [await create('all'), await create({ only: ['marketplace'] })];
    expect([await readByRelease(wide), await readByRelease(narrow)]).toEqual([
      'all',
      { only: ['marketplace'] },
    ]);
    await payments('keys', 'update', wide.id, '--merchant-account', 'default');
    await payments('keys', 'update', narrow.id, '--all-accounts');
    expect([await readByRelease(wide), await readByRelease(narrow)]).toEqual([{ only: ['default'] }, 'all']);
  });
});

describe('payments keys update', () => {
  const update = async (pair: Pair, ...options: string[]) => {
    const { status, stdout, stderr } = await payments('keys', 'update', pair.id, ...options);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return (JSON.parse(stdout) as Shown).merchant_accounts.map(({ id }) => id);
  };
  const [one, other] = [
    ['--merchant-account', 'default'],
    ['--merchant-account', 'marketplace'],
  ];

  it('replaces the accounts of a key pair', async () => {
    const pair = await service.pair({ accounts: ['marketplace'] });
    expect(await update(pair, ...one, ...other, ...one)).toEqual(['default', 'marketplace']);
    expect(await update(pair, ...other)).toEqual(['marketplace']);
    expect(await update(pair, '--all-accounts')).toEqual([]);
    expect(await update(pair, ...one)).toEqual(['default']);
    expect(await shown(pair)).toEqual({ active: true, accounts: ['default'] });
    expect(await statuses(pair)).toEqual([200, 404]);
  });

  it('several at once: the last one decides, and nothing of the others is left', async () => {
    const pair = await service.pair({ accounts: ['marketplace'] });
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        silentWork(db(), (unit) =>
          updateAccountsOf(unit, pair.id, { only: [index % 2 === 0 ? 'default' : 'marketplace'] }),
        ),
      ),
    );
    expect((await shown(pair))?.accounts).toHaveLength(1);
  });

  it('takes effect on a key pair in use, once the service has forgotten what it remembers of it', async () => {
    const pair = await service.pair({ accounts: ['marketplace'] });
    expect(await statuses(pair)).toEqual([404, 200]);
    await update(pair, ...one);
    await vi.waitUntil(async () => String(await statuses(pair)) === '200,404', { timeout: 20_000 });
  });

  it('refuses what leaves it without accounts, or names one that does not exist, and changes nothing', async () => {
    const pair = await service.pair({ accounts: ['marketplace'] });
    const refused = async (...args: string[]) => {
      const { status, stderr } = await payments('keys', 'update', ...args);
      return `${status} ${stderr}`;
    };
    const empty = `payments keys deactivate ${pair.id}`;
    expect(await refused(pair.id)).toMatch(/^2 /);
    expect(await refused(pair.id)).toContain(empty);
    // A variable of a script that is not set.
    expect(await refused(pair.id, '--merchant-account', '')).toContain(empty);
    expect(
      await refused(pair.id, '--merchant-account', 'default', '--merchant-account', 'nowhere'),
    ).toContain('There is no merchant account nowhere. See: payments accounts list');
    expect(await refused(pair.id, '--merchant-account', 'default', '--all-accounts')).toMatch(
      /^2 .*cannot be used with/,
    );
    const nobody = randomUUID();
    expect(await refused(nobody, '--all-accounts')).toContain(`There is no key pair ${nobody}`);
    expect(await readByRelease(pair)).toEqual({ only: ['marketplace'] });
    expect(await statuses(pair)).toEqual([404, 200]);
  });
});
