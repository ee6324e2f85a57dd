// `payments secrets rotate` changes the card key while the service runs, without failed requests.
import { randomBytes, randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { listSealed } from '../../server/kit/secrets/reseal.ts';
import { watchCardKeys } from '../../server/kit/secrets/secrets-file.ts';
import { createVault, keyIdOf } from '../../server/kit/secrets/vault.ts';
import { sealedColumns } from '../../server/resources/facts.ts';
import { findPaymentMethodOfAnyAccount } from '../../server/resources/payment-methods/any-account.ts';
import { giftCards } from '../../server/sandbox/sample-records.ts';
import { paymentsHere } from '../support/in-process.ts';
import { createPayments, startNode, type Payments } from '../support/processes.ts';
import { createPaymentMethod, recordReplacement } from '../support/records.ts';
import { keysUsed as keysUsedIn } from '../support/sealed.ts';
import { noSecrets, startTestService, type TestService } from '../support/service.ts';

// Some commands run in their own process.
vi.setConfig({ testTimeout: 180_000 });

const number = '4242424242424242';

let service: TestService;
let env: Record<string, string | undefined>;
let payments: Payments;

beforeAll(async () => {
  service = await startTestService({ config: { secrets: noSecrets } });
  env = { DATABASE_URL: service.config.databaseUrl, DATA_DIR: service.config.dataDir };
  payments = createPayments(env);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const db = () => service.service.database.db;
const keysNow = () => watchCardKeys(service.config.dataDir)().map(keyIdOf);
const keysUsed = () => keysUsedIn(db());
const sandboxVault = () => createVault(watchCardKeys(service.config.dataDir));

const doctor = async () => (await paymentsHere(['doctor'], env)).status;

/** Cards that nobody looks at; each is sealed for its row. */
async function storeMany(many: number): Promise<void> {
  const { seal } = sandboxVault();
  const cards = Array.from({ length: many }, () => {
    const id = randomUUID();
    return { id, sealed: seal(number, { purpose: 'card-number', owner: 'default', id }) };
  });
  await sql`
    insert into payment_methods (id, merchant_account_id, status, number_sealed)
    select id, 'default', 'succeeded', sealed
    from json_to_recordset(${JSON.stringify(cards)}::json) as given (id uuid, sealed text)`.execute(db());
}

async function storeWithReplacement(): Promise<string> {
  const { secrets } = service;
  const { id } = await createPaymentMethod({ db: db(), secrets }, { number, expiration_date: '12/39' });
  await recordReplacement({ db: db(), secrets }, id, { expiration_date: '12/41' });
  return id;
}

/** Every value, opened. */
async function openAll(): Promise<Map<string, Set<string>>> {
  const { open } = sandboxVault();
  const texts = new Map<string, Set<string>>();
  await listSealed(db(), sealedColumns, ({ sealed, binding }) => {
    const known = texts.get(binding.purpose) ?? new Set();
    texts.set(binding.purpose, known.add(open(sealed, binding)));
  });
  return texts;
}

const login = { kind: 'basic', username: 'u', password: 'a password' };

describe('in the sandbox', () => {
  it('changes the key during reads and writes, and removes the old key', async () => {
    const [old] = keysNow();
    const waiting = await storeWithReplacement();
    const keyed = async () => {
      const answer = await service.call('POST', '/webhook-subscriptions', {
        token: service.token('*.write'),
        body: { active: false, url: 'https://keyed.example', authentication: login },
        headers: { 'Idempotency-Key': 'kept during a rotation' },
      });
      return [answer.text, answer.headers.get('idempotency-replayed')];
    };
    const [kept] = await keyed();
    await storeMany(500);
    const before = await openAll();
    const fingerprintOf = async () => {
      const { body } = await service.call('POST', '/payment-methods', {
        token: service.token('*.write'),
        body: { method: 'card', number, expiration_date: '12/39' },
      });
      return (body as { fingerprint: string }).fingerprint;
    };
    const fingerprint = await fingerprintOf();
    const token = service.token('*.read', '*.write');
    const statuses = new Map<string, number>();
    let over = false;
    const repeat = async (name: string, method: string, path: string, body?: () => unknown) => {
      while (!over) {
        const { status } = await service.call(method, path, { token, ...(body ? { body: body() } : {}) });
        statuses.set(`${name} ${status}`, (statuses.get(`${name} ${status}`) ?? 0) + 1);
        await wait(5);
      }
    };
    const card = { method: 'card', number, expiration_date: '12/39' };
    const stored = { items: giftCards.slice(0, 2).map(({ id }) => ({ id })) };
    const traffic = [
      repeat('card', 'POST', '/payment-methods', () => card),
      repeat('balance', 'POST', '/gift-cards/balances', () => stored),
      repeat('list', 'GET', '/webhook-subscriptions?limit=20'),
      repeat('subscribe', 'POST', '/webhook-subscriptions', () => ({
        // The subscriptions are inactive: otherwise every card would cause an event for each of them.
        active: false,
        url: 'https://example.com',
        authentication: login,
      })),
    ];
    const { status, stdout, stderr } = await paymentsHere(['secrets', 'rotate'], env);
    // Also after the rotation: values stored now must use the new key.
    const answers = () => [...statuses.values()].reduce((sum, count) => sum + count, 0);
    const goal = answers() + 20;
    while (answers() < goal) await wait(5);
    over = true;
    await Promise.all(traffic);

    expect([status, stderr]).toEqual([0, '']);
    const [current, ...others] = keysNow();
    expect(others).toEqual([]);
    expect(current).not.toBe(old);
    expect(stdout).toMatch(
      new RegExp(
        `^Encrypted \\d+ values with key ${current ?? ''}; no value uses another key. The old key was removed from DATA_DIR.\n$`,
      ),
    );
    expect([...statuses.keys()].sort()).toEqual(['balance 200', 'card 201', 'list 200', 'subscribe 201']);
    expect(await keysUsed()).toEqual([current]);
    expect(await doctor()).toBe(0);

    // All values are unchanged.
    expect(await keyed()).toEqual([kept, 'true']);
    const texts = await openAll();
    expect(texts.get('card-number')).toContain(number);
    // Those of accounts: with another key, the same card would have another fingerprint.
    expect(texts.get('digest-key')).toEqual(before.get('digest-key'));
    expect(await fingerprintOf()).toBe(fingerprint);
    expect(texts.get('webhook-password')).toEqual(new Set(['a password']));
    for (const secret of texts.get('webhook-secret') ?? []) expect(secret).toMatch(/^whsec_/);
    const row = await findPaymentMethodOfAnyAccount(db(), waiting);
    expect(row?.replacement?.expiration_date).toBe('12/41');
    const place = { purpose: 'card-number', owner: 'default', id: waiting } as const;
    const { open } = sandboxVault();
    expect(open(row?.replacement?.number_sealed ?? '', place)).toBe('5555555555554444');
    const { body } = await service.call('POST', '/gift-cards/balances', { token, body: stored });
    expect(body).toMatchObject({ items: [{ balance: 12550 }, { balance: 0 }] });
  });

  it('a value that was moved is refused, and no rotation seals it for where it was put', async () => {
    const [card, other] = giftCards;
    const pinOf = async (id = '') => {
      const found = db().selectFrom('gift_cards').select('pin_sealed').where('id', '=', id);
      return (await found.executeTakeFirstOrThrow()).pin_sealed;
    };
    const put = (pin_sealed: string) =>
      db()
        .updateTable('gift_cards')
        .set({ pin_sealed })
        .where('id', '=', card?.id ?? '')
        .execute();
    const good = await pinOf(card?.id);
    await put(await pinOf(other?.id));
    expect(await doctor()).toBe(1);
    const { status, stderr } = await paymentsHere(['secrets', 'rotate'], env);
    expect([status, stderr]).toEqual([
      1,
      `A value of gift_cards ${card?.id ?? ''} does not open. See: payments doctor\n`,
    ]);
    await put(good);
    expect((await paymentsHere(['secrets', 'rotate'], env)).status).toBe(0);
    expect(await doctor()).toBe(0);
  });

  it('killed half-way, it completes on the next run with the key that it had created', async () => {
    await storeMany(8_000);
    const child = startNode('server/cli/main.ts', ['secrets', 'rotate'], { env });
    while ((await keysUsed()).length < 2) await wait(5);
    child.process.kill('SIGKILL');
    await child.ended;
    const [made, old] = keysNow();
    expect((await keysUsed()).sort()).toEqual([made, old].sort());
    // Both keys open in between.
    expect((await openAll()).get('card-number')).toContain(number);
    expect(await doctor()).toBe(0);
    const { status, stdout } = await paymentsHere(['secrets', 'rotate'], env);
    expect([status, stdout]).toEqual([0, expect.stringContaining(`with key ${made ?? ''}`)]);
    expect(keysNow()).toEqual([made]);
    expect(await keysUsed()).toEqual([made]);
    const { mode } = statSync(join(service.config.dataDir, 'secrets.json'));
    expect(mode & 0o777).toBe(0o600);
  });

  it('reads tables in batches and counts no rows, because a statement may take 15 s only', async () => {
    await storeMany(2_500);
    const sent: string[] = [];
    const query = vi.spyOn(pg.Client.prototype, 'query');
    try {
      expect((await paymentsHere(['secrets', 'rotate'], env)).status).toBe(0);
      for (const [given] of query.mock.calls as unknown as [string | { text: string }][])
        sent.push(typeof given === 'string' ? given : given.text);
    } finally {
      query.mockRestore();
    }
    const reads = sent.filter((text) => /\bfrom "?(payment_methods|gift_cards|idempotency_keys)/.test(text));
    expect(reads.length).toBeGreaterThan(10);
    for (const text of reads) expect(text).toMatch(/limit |= any\(|= given\.id/);
    expect(reads.filter((text) => text.includes('count('))).toEqual([]);
  });

  it('waits for older transactions, refuses a second rotation at the same time, and keeps the old key with --keep-old', async () => {
    const [old] = keysNow();
    // A transaction that sealed a value with the old key may commit after all other values were re-encrypted.
    const late = await db()
      .connection()
      .execute(async (connection) => {
        await sql`begin`.execute(connection);
        const id = randomUUID();
        const sealed = sandboxVault().seal(number, { purpose: 'card-number', owner: 'default', id });
        const rotating = payments(['secrets', 'rotate', '--keep-old']);
        while (keysNow().length < 2) await wait(20);
        const second = await paymentsHere(['secrets', 'rotate'], env);
        expect([second.status, second.stderr]).toEqual([1, 'Another rotation is running.\n']);
        await sql`
        insert into payment_methods (id, merchant_account_id, status, number_sealed)
        values (${id}, 'default', 'succeeded', ${sealed})`.execute(connection);
        await sql`commit`.execute(connection);
        return rotating;
      });
    expect([late.status, late.stdout]).toEqual([0, expect.stringContaining('can be removed')]);
    expect(keysNow()).toHaveLength(2);
    expect(keysNow()[1]).toBe(old);
    expect(await keysUsed()).toEqual([keysNow()[0]]);
  });
});

describe('where CARD_KEY is set', () => {
  const text = (...keys: Buffer[]) => keys.map((key) => key.toString('base64')).join(',');

  it('changes nothing when a key is missing, or the old one is still the first', async () => {
    const file = JSON.parse(await readFile(join(service.config.dataDir, 'secrets.json'), 'utf8')) as {
      CARD_KEY: string;
    };
    const old = Buffer.from(file.CARD_KEY.split(',')[0] ?? '', 'base64');
    const fresh = randomBytes(32);
    const before = await keysUsed();
    const rotateWith = (...keys: Buffer[]) =>
      paymentsHere(['secrets', 'rotate'], { ...env, CARD_KEY: text(...keys) });
    const missing = await rotateWith(fresh);
    expect([missing.status, missing.stderr]).toEqual([
      1,
      expect.stringContaining(`need a key that is missing: ${keyIdOf(old)}`),
    ]);
    expect(await keysUsed()).toEqual(before);

    // One step too early: the old key is still the first.
    const early = await rotateWith(old, fresh);
    expect([early.status, early.stdout]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(`^Nothing to do: .*${keyIdOf(old)}\\. To rotate, put the new key first`),
      ),
    ]);

    // secrets.json was not changed, because the key comes from CARD_KEY.
    expect(keysNow()[0]).toBe(keyIdOf(old));
  });
});
