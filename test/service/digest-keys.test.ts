// Every merchant account has a random key, sealed by CARD_KEY, from which those of its digests come. It is made at its first use.
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '../../server/config.ts';
import { deleteAccount } from '../../server/kit/access/accounts/changes.ts';
import { inTransaction, openDatabase, type Db } from '../../server/kit/database/database.ts';
import type { KeysOf } from '../../server/kit/secrets/digest-keys.ts';
import { createVault } from '../../server/kit/secrets/vault.ts';
import { openSecrets } from '../../server/open-secrets.ts';
import { facts } from '../../server/resources/facts.ts';
import { eventually, newDataDir, type DataDir } from '../support/data-dir.ts';
import { createTestDatabase, query } from '../support/database.ts';
import { paymentsHere } from '../support/in-process.ts';
import { createAccount, silentWork } from '../support/records.ts';
import { noSecrets, startTestService, testSecrets, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const db = () => service.service.database.db;
const makeAccount = async (at = db()) => {
  const id = randomUUID();
  await createAccount(at, { id, display_name: id });
  return id;
};
const sealedOf = async (account: string, at = db()) => {
  const { rows } = await sql<{ sealed: string | null }>`
    select key_sealed as sealed from merchant_accounts where id = ${account}`.execute(at);
  return rows[0]?.sealed;
};
/** One of the keys of an account. */
const keyBy =
  (keysOf: KeysOf) =>
  async (at: Db, account: string | null): Promise<Buffer> =>
    (await keysOf(at, account))('idempotency');
/** As another process has it. */
const freshKeyOf = (config: Partial<Config> = {}) =>
  keyBy(openSecrets({ ...service.config, ...config }).keysOf);
/** Whoever uses it asks the database. */
const nowhere = new Proxy({} as Db, {
  get: () => {
    throw new Error('the database was asked');
  },
});

const store = (at: TestService, account: string, headers: Record<string, string> = {}) =>
  at.call('POST', '/payment-methods', {
    token: at.token('*.write'),
    headers: { 'X-Service-Merchant-Account-ID': account, ...headers },
    body: { method: 'card', number: '4242424242424242', expiration_date: '12/39' },
  });

it('the key of an account is made at its first use, and is then the same for all processes', async () => {
  const account = await makeAccount();
  expect(await sealedOf(account)).toBeNull();
  const processes = Array.from({ length: 8 }, () => freshKeyOf());
  const keys = await Promise.all(processes.map((keyOf) => keyOf(db(), account)));
  for (const one of keys) expect(one).toEqual(keys[0]);
  expect(await freshKeyOf()(db(), account)).toEqual(keys[0]);
  expect(await sealedOf(account)).toMatch(/^[0-9a-f]{8}\./);
  expect(await keyBy(service.secrets.keysOf)(db(), await makeAccount())).not.toEqual(keys[0]);
});

it('that of the installation is made at the first request about several accounts, and kept in the settings', async () => {
  const find = async () => {
    const { rows } = await sql`select from settings where name = 'installation_key_sealed'`.execute(db());
    return rows.length;
  };
  expect(await find()).toBe(0);
  const subscribe = () =>
    service.call('POST', '/webhook-subscriptions', {
      token: service.token('*.write'),
      headers: { 'X-Service-Merchant-Account-ID': '*', 'Idempotency-Key': 'several' },
      body: { active: false, url: 'https://several.example' },
    });
  const first = await subscribe();
  expect(first.status).toBe(201);
  expect(await find()).toBe(1);
  const processes = Array.from({ length: 4 }, () => freshKeyOf());
  const keys = await Promise.all(processes.map((keyOf) => keyOf(db(), null)));
  for (const one of keys) expect(one).toEqual(keys[0]);
  expect((await subscribe()).text).toBe(first.text);
});

it('a key is remembered, so that later requests do not ask for it', async () => {
  const account = await makeAccount();
  const keyOf = freshKeyOf();
  const key = await keyOf(db(), account);
  expect(await keyOf(nowhere, account)).toBe(key);
});

it('a key that is rolled back is not remembered', async () => {
  const account = await makeAccount();
  const keyOf = freshKeyOf();
  const rolledBack = await inTransaction(db(), async (tx) => {
    const key = await keyOf(tx, account);
    expect(await keyOf(tx, account)).toEqual(key);
    await sql`rollback`.execute(tx);
    return key;
  });
  expect(await sealedOf(account)).toBeNull();
  const key = await keyOf(db(), account);
  expect(key).not.toEqual(rolledBack);
  expect(await freshKeyOf()(db(), account)).toEqual(key);
});

it('an account whose key was used is not deleted, because processes remember the key', async () => {
  const [used, unused] = [await makeAccount(), await makeAccount()];
  await service.secrets.keysOf(db(), used);
  const remove = (id: string) => silentWork(db(), (unit) => deleteAccount(unit, id, facts));
  expect([await remove(used), await remove(unused)]).toEqual([{ kind: 'used' }, { kind: 'deleted' }]);
});

describe('where CARD_KEY is lost', () => {
  const fresh = randomBytes(32);
  const others = { ...testSecrets(), CARD_KEY: [fresh] as const };
  const { keyId } = createVault(() => [fresh]);

  it.each(['sandbox', 'production'] as const)(
    'in %s no process replaces the key of an account: it stores no card, and the log names the command',
    async (environment) => {
      const account = await makeAccount();
      const sealed = createVault(() => [fresh]).seal('a key', {
        ...{ purpose: 'digest-key', owner: account, id: account },
      });
      await sql`update merchant_accounts set key_sealed = ${sealed} where id = ${account}`.execute(db());
      const why = `The digest key of merchant account ${account} does not open: A stored value needs key ${keyId}, which is missing. Add it to CARD_KEY (or CARD_KEY_FILE). If its card key is lost: payments secrets replace-lost-keys`;
      await expect(freshKeyOf({ environment })(db(), account)).rejects.toThrow(why);
      if (environment === 'sandbox') {
        expect((await store(service, account)).status).toBe(500);
        const logged = service.logs.filter((line) => line.includes(why));
        expect(logged).toHaveLength(1);
        // Causes are added to the message.
        expect(logged[0]).not.toContain(`${why}: `);
      }
      expect(await sealedOf(account)).toBe(sealed);
    },
  );

  /** A server process ends a moment after its connection is closed. */
  const untilAlone = (databaseUrl: string) =>
    eventually(async () => {
      const found = await query(
        databaseUrl,
        'select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
      return found.length === 0;
    }, 'nobody is connected');

  describe('altogether', () => {
    let databaseUrl: string;
    let dataDir: DataDir;
    let old: string;
    beforeAll(async () => {
      dataDir = await newDataDir();
      databaseUrl = await createTestDatabase('furnished');
      // Those of the accounts are made with the sample data.
      await keysIn(null);
      old = service.secrets.vault.keyId;
    });
    afterAll(async () => {
      await dataDir[Symbol.asyncDispose]();
    });

    /** Closed at once, because the command counts connections. */
    const keysIn = async (account: string | null) => {
      const database = openDatabase(databaseUrl, () => undefined);
      try {
        return await freshKeyOf()(database.db, account);
      } finally {
        await database.close();
      }
    };
    const everything = async () => ({
      accounts: await query(databaseUrl, 'select * from merchant_accounts order by id'),
      settings: await query(databaseUrl, 'select * from settings order by name'),
      pairs: await query(databaseUrl, 'select * from api_key_pairs order by id'),
      audit: await query(databaseUrl, 'select command from audit_entries order by id'),
    });
    const replace = async (...options: string[]) => {
      await untilAlone(databaseUrl);
      return paymentsHere(['secrets', 'replace-lost-keys', ...options], {
        ...{ DATABASE_URL: databaseUrl, DATA_DIR: dataDir.path, CARD_KEY: fresh.toString('base64') },
      });
    };
    const inProduction = { environment: 'production' } as const;

    it.each([
      [
        'production',
        { ...inProduction, secrets: others },
        /^No key in CARD_KEY \(or CARD_KEY_FILE\) opens the stored values\. Add key OLD there\. If it is lost: payments secrets replace-lost-keys/,
      ],
      [
        'a sandbox with CARD_KEY',
        { secrets: others },
        /^No key in CARD_KEY \(or CARD_KEY_FILE\) opens the stored values\. Add key OLD there\. If it is lost: payments secrets replace-lost-keys/,
      ],
      [
        'a sandbox whose secrets.json is gone',
        { secrets: noSecrets },
        /^The card key in \S+secrets\.json opens none of the stored values\. Restore that file with key OLD\. .*payments secrets replace-lost-keys.* If nothing that is stored matters, use an empty database\.$/,
      ],
    ] as const)('%s does not start, and changes nothing', async (_, config, message) => {
      const before = await everything();
      await expect(
        startTestService({ config: { databaseUrl, dataDir: dataDir.path, ...config } }),
      ).rejects.toThrow(new RegExp(message.source.replace('OLD', old)));
      expect(await everything()).toEqual(before);
      expect(existsSync(join(dataDir.path, 'sandbox-key.pem'))).toBe(false);
    });

    it('secrets rotate in such a sandbox is refused, and makes no key', async () => {
      const file = join(dataDir.path, 'secrets.json');
      const before = readFileSync(file, 'utf8');
      const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir.path };
      const { status, stderr } = await paymentsHere(['secrets', 'rotate'], env);
      expect([status, stderr]).toEqual([
        1,
        `Some values need a key that is missing: ${old}. Add it to CARD_KEY (or CARD_KEY_FILE). If it is lost: payments secrets replace-lost-keys, and see "A lost key" in docs/guides/keys.md. Nothing was changed.\n`,
      ]);
      expect(readFileSync(file, 'utf8')).toBe(before);
    });

    it('a broken or missing secrets.json leads to replace-lost-keys, which makes another one', async () => {
      await using other = await newDataDir();
      const copy = await createTestDatabase('furnished');
      await untilAlone(copy);
      const file = join(other.path, 'secrets.json');
      const payments = (...args: string[]) =>
        paymentsHere(args, { DATABASE_URL: copy, DATA_DIR: other.path });
      const lost = 'If it is lost';
      mkdirSync(other.path, { mode: 0o700 });
      writeFileSync(file, '{}}', { mode: 0o600 });
      const broken = await payments('doctor');
      expect([broken.status, broken.stderr]).toEqual([
        1,
        `${file} does not contain valid sandbox secrets. Restore it. ${lost}, remove it, and run: payments secrets replace-lost-keys\n`,
      ]);
      rmSync(file);
      const missing = await payments('doctor');
      expect([missing.status, missing.stderr]).toEqual([
        1,
        `CARD_KEY, CURSOR_KEY missing in ${file}, and this command creates nothing. Start the service if it has never run, otherwise restore the file. ${lost}: payments secrets replace-lost-keys\n`,
      ]);
      expect((await payments('secrets', 'replace-lost-keys', '--yes')).status).toBe(0);
      const config = { databaseUrl: copy, dataDir: other.path, secrets: noSecrets };
      const started = await startTestService({ config });
      await started[Symbol.asyncDispose]();
    });

    it('replace-lost-keys without --yes says what it would do, and changes nothing', async () => {
      const before = await everything();
      const { status, stdout, stderr } = await replace();
      expect([status, stdout, stderr]).toEqual([
        1,
        '',
        expect.stringMatching(
          /^New digest keys for: default, marketplace, the installation\. What was sealed with the lost key stays unreadable.*\nReplace them\? Without a terminal to ask at, add --yes\.\n$/,
        ),
      ]);
      expect(await everything()).toEqual(before);
    });

    it('nor does it while the service is connected, because an instance may know the old keys', async () => {
      const { databaseUrl: url } = service.config;
      const { status, stderr } = await paymentsHere(['secrets', 'replace-lost-keys', '--yes'], {
        ...{ DATABASE_URL: url, DATA_DIR: dataDir.path, CARD_KEY: fresh.toString('base64') },
      });
      expect([status, stderr]).toEqual([
        1,
        expect.stringMatching(
          /^The service is connected .* Stop every instance first\. .* Nothing was changed\.\n$/,
        ),
      ]);
    });

    it('with --yes it makes new keys and keeps the old values, and the service starts and stores cards again', async () => {
      const before = await everything();
      const own = before.settings.find(({ name }) => name === 'installation_key_sealed');
      const keysBefore = [
        ...before.accounts.map(({ id, key_sealed }) => [id, key_sealed] as const),
        [null, own?.value] as const,
      ];
      const { status, stdout } = await replace('--yes', '--json');
      expect([status, JSON.parse(stdout)]).toEqual([
        0,
        { key: keyId, replaced: ['default', 'marketplace', null], put_back: [] },
      ]);
      const after = await everything();
      for (const [account, lost] of keysBefore) {
        const kept = after.settings.filter(
          ({ name }) => /^lost_key_sealed \S+Z (.+)$/.exec(String(name))?.[1] === (account ?? '*'),
        );
        expect(kept.map(({ value }) => value)).toEqual([lost]);
      }
      for (const { key_sealed } of after.accounts) expect(key_sealed).toMatch(new RegExp(`^${keyId}\\.`));
      expect(after.audit).toEqual([
        ...before.audit,
        { command: 'secrets replace-lost-keys --yes --json # default, marketplace, the installation' },
      ]);

      const again = await replace('--yes');
      expect([again.status, again.stderr]).toEqual([
        1,
        'Nothing to do: CARD_KEY (or CARD_KEY_FILE) opens all digest keys. Nothing was changed.\n',
      ]);
      expect(await everything()).toEqual(after);

      for (const config of [{ ...inProduction, secrets: others }, { secrets: others }]) {
        await using started = await startTestService({
          config: { databaseUrl, dataDir: dataDir.path, ...config },
        });
        const pair = await started.pair();
        const answer = await started.call('POST', '/payment-methods', {
          token: pair.token('*.write'),
          body: { method: 'card', number: '4111111111111111', expiration_date: '12/39' },
        });
        expect(answer.status).toBe(201);
        const prints = await query(
          databaseUrl,
          `select distinct fingerprint from payment_methods where label = '1111' and status = 'succeeded'`,
        );
        // That of the sample card, and that of the new ones.
        expect(prints).toHaveLength(2);
        expect(prints).toContainEqual({ fingerprint: (answer.body as { fingerprint: string }).fingerprint });
      }
      // The values that are kept are no fault of the data; the cards of the lost key are.
      const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir.path, CARD_KEY: fresh.toString('base64') };
      const { items } = JSON.parse((await paymentsHere(['doctor', '--json'], env)).stdout) as {
        items: { check: string; broken: number; examples: string[] }[];
      };
      const sealed = items.find(({ check }) => check.startsWith('everything that is sealed'));
      expect(sealed?.broken).toBeGreaterThan(0);
      expect(sealed?.examples.filter((one) => /settings|merchant_accounts/.test(one))).toEqual([]);
    });

    it('what the lost key sealed can be erased and replaced, as the guide says, and then CARD_KEY can be rotated', async () => {
      const [id, owner] = [randomUUID(), 'default'];
      const secret = service.secrets.vault.seal('whsec_', { purpose: 'webhook-secret', owner, id });
      await query(
        databaseUrl,
        `insert into webhook_subscriptions (id, merchant_account_id, url, active, secret_sealed)
        values ('${id}', '${owner}', 'https://lost.example', false, '${secret}')`,
      );
      const next = randomBytes(32);
      const keys = [next, fresh].map((key) => key.toString('base64')).join(',');
      const payments = (...args: string[]) =>
        paymentsHere(args, { DATABASE_URL: databaseUrl, DATA_DIR: dataDir.path, CARD_KEY: keys });
      const refused = await payments('secrets', 'rotate');
      expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining(old)]);

      for (const [table, noun] of [
        ['payment_methods', 'payment-methods'],
        ['gift_cards', 'gift-cards'],
      ] as const) {
        const found = await query(databaseUrl, `select id from ${table} where number_sealed like '${old}.%'`);
        expect(found).not.toEqual([]);
        const { status } = await payments(noun, 'erase', '--yes', ...found.map((row) => String(row.id)));
        expect(status).toBe(0);
      }
      expect((await payments('webhooks', 'rotate', id, '--keep', '0s')).status).toBe(0);
      const rotated = await payments('secrets', 'rotate');
      expect([rotated.status, rotated.stderr]).toEqual([0, '']);
    });

    it('a value that was kept can be put back when the card key is found', async () => {
      await query(
        databaseUrl,
        `update merchant_accounts set key_sealed = (
          select value from settings where name like 'lost_key_sealed % default') where id = 'default'`,
      );
      expect(await keysIn('default')).toEqual(await freshKeyOf()(db(), 'default'));
    });
  });

  it('replace-lost-keys called by mistake with a wrong key is undone by a call with the right one', async () => {
    const databaseUrl = await createTestDatabase('furnished');
    await using dataDir = await newDataDir();
    const replace = async (...[key]: Buffer[]) => {
      await untilAlone(databaseUrl);
      return paymentsHere(['secrets', 'replace-lost-keys', '--yes'], {
        ...{ DATABASE_URL: databaseUrl, DATA_DIR: dataDir.path, CARD_KEY: key?.toString('base64') },
      });
    };
    const keys = () => query(databaseUrl, 'select id, key_sealed from merchant_accounts order by id');
    const before = await keys();
    expect((await replace(fresh)).status).toBe(0);
    const [mistaken, right] = [await keys(), service.config.secrets.CARD_KEY?.[0] ?? fresh];
    const { status, stdout } = await replace(right);
    expect([status, stdout]).toEqual([
      0,
      `New digest keys, sealed with key ${service.secrets.vault.keyId}: the installation. Put back, because CARD_KEY (or CARD_KEY_FILE) opens what an earlier call had kept: default, marketplace. The replaced values are kept in the table settings. Start the service now.\n`,
    ]);
    expect(await keys()).toEqual(before);
    // Nor does the mistaken key make a third one.
    expect((await replace(fresh)).status).toBe(0);
    expect(await keys()).toEqual(mistaken);
    const config = { databaseUrl, dataDir: dataDir.path };
    expect((await replace(right)).status).toBe(0);
    const started = await startTestService({ config: { ...config, secrets: service.config.secrets } });
    await started[Symbol.asyncDispose]();
  });

  it('where no digest key is made yet, that of the installation is, so that the service starts', async () => {
    const databaseUrl = await createTestDatabase('furnished');
    await using dataDir = await newDataDir();
    await query(databaseUrl, 'update merchant_accounts set key_sealed = null');
    await untilAlone(databaseUrl);
    const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir.path, CARD_KEY: fresh.toString('base64') };
    const { status, stdout } = await paymentsHere(['secrets', 'replace-lost-keys', '--yes', '--json'], env);
    expect([status, JSON.parse(stdout)]).toEqual([0, { key: keyId, replaced: [null], put_back: [] }]);
    const started = await startTestService({
      config: { databaseUrl, dataDir: dataDir.path, secrets: others },
    });
    await started[Symbol.asyncDispose]();
  });
});
