// Every merchant account has a random key, sealed by CARD_KEY, from which those of its digests come. It is made at its first use.
import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '../../server/config.ts';
import { inTransaction, type Db } from '../../server/database/database.ts';
import { deleteAccount } from '../../server/resources/merchant-accounts/changes.ts';
import { openSecrets } from '../../server/secrets/open.ts';
import { createAccount, silentWork } from '../support/records.ts';
import { startTestService, testSecrets, type TestService } from '../support/service.ts';

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
/** As another process has them. */
const freshKeysOf = (config: Partial<Config> = {}) => openSecrets({ ...service.config, ...config }).keysOf;
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
  const processes = Array.from({ length: 8 }, () => freshKeysOf());
  const keys = await Promise.all(processes.map((keysOf) => keysOf(db(), account)));
  for (const one of keys) expect(one).toEqual(keys[0]);
  expect(await freshKeysOf()(db(), account)).toEqual(keys[0]);
  expect(await sealedOf(account)).toMatch(/^[0-9a-f]{8}\./);
  expect(await service.secrets.keysOf(db(), await makeAccount())).not.toEqual(keys[0]);
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
  const processes = Array.from({ length: 4 }, () => freshKeysOf());
  const keys = await Promise.all(processes.map((keysOf) => keysOf(db(), null)));
  for (const one of keys) expect(one).toEqual(keys[0]);
  expect((await subscribe()).text).toBe(first.text);
});

it('a key is remembered, so that later requests do not ask for it', async () => {
  const account = await makeAccount();
  const keysOf = freshKeysOf();
  const keys = await keysOf(db(), account);
  expect(await keysOf(nowhere, account)).toBe(keys);
});

it('a key that is rolled back is not remembered', async () => {
  const account = await makeAccount();
  const keysOf = freshKeysOf();
  const rolledBack = await inTransaction(db(), async (tx) => {
    const keys = await keysOf(tx, account);
    expect(await keysOf(tx, account)).toEqual(keys);
    await sql`rollback`.execute(tx);
    return keys;
  });
  expect(await sealedOf(account)).toBeNull();
  const keys = await keysOf(db(), account);
  expect(keys).not.toEqual(rolledBack);
  expect(await freshKeysOf()(db(), account)).toEqual(keys);
});

it('an account whose key was used is not deleted, because processes remember the key', async () => {
  const [used, unused] = [await makeAccount(), await makeAccount()];
  await service.secrets.keysOf(db(), used);
  const remove = (id: string) => silentWork(db(), (unit) => deleteAccount(unit, id));
  expect([await remove(used), await remove(unused)]).toEqual([false, true]);
});

describe('where CARD_KEY is lost', () => {
  const production = (secrets: Config['secrets']): Partial<Config> => ({
    ...{ environment: 'production', secrets },
    databaseUrl: service.config.databaseUrl,
  });

  it('an account cannot store cards, and with MISSING_KEYS=accept it can again', async () => {
    const account = await makeAccount();
    const stored = await store(service, account, { 'Idempotency-Key': 'once' });
    expect(stored.status).toBe(201);
    const lost = await sealedOf(account);
    const config = production({ ...testSecrets(), CARD_KEY: [randomBytes(32)] });
    await expect(freshKeysOf(config)(db(), account)).rejects.toThrow(
      `needs key ${service.secrets.vault.keyId}, which is missing`,
    );
    expect(await sealedOf(account)).toBe(lost);

    const accepting = { ...config, missingKeys: 'accept' } as const;
    const processes = Array.from({ length: 8 }, () => freshKeysOf(accepting));
    const keys = await Promise.all(processes.map((keysOf) => keysOf(db(), account)));
    for (const one of keys) expect(one).toEqual(keys[0]);
    expect(await sealedOf(account)).not.toBe(lost);
    await using again = await startTestService({ config: accepting });
    const pair = await again.pair();
    const answer = await again.call('POST', '/payment-methods', {
      token: pair.token('*.write'),
      headers: { 'X-Service-Merchant-Account-ID': account, 'Idempotency-Key': 'once' },
      body: { method: 'card', number: '4242424242424242', expiration_date: '12/39' },
    });
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([201, 'false']);
    // The old one was random.
    expect((answer.body as { fingerprint: string }).fingerprint).not.toBe(
      (stored.body as { fingerprint: string }).fingerprint,
    );
  });
});
