// `payments secrets rotate` changes the card key and binds values of older versions to their rows while the service runs,
// without failed requests.
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createVault, keyIdOf, type Purpose } from '../../server/domain/vault.ts';
import { watchCardKeys } from '../../server/sandbox/secrets-file.ts';
import { createPaymentMethod } from '../../server/actions/payment-methods.ts';
import { findPaymentMethodOfAnyAccount } from '../../server/store/payment-methods.ts';
import { countSealed, countUnbound, listSealed, sealedColumns } from '../../server/store/reseal.ts';
import { findSealing } from '../../server/store/sealing.ts';
import { giftCards } from '../../server/sandbox/sample-records.ts';
import { paymentsHere } from '../support/in-process.ts';
import { createPayments, startNode, type Payments } from '../support/processes.ts';
import { noteReplacement, silentWork } from '../support/records.ts';
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
  await becomeOld();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const db = () => service.service.database.db;
const keysNow = () => watchCardKeys(service.config.dataDir)().map(keyIdOf);
const keysUsed = async () => [...(await countSealed(db())).keys()];
const sandboxVault = () => createVault(watchCardKeys(service.config.dataDir));

/** As the migration leaves a database that an older version has used. A service that has seen it bound does not ask again. */
const becomeOld = () => sql`update settings set value = 'unbound' where name = 'sealing'`.execute(db());

const doctor = async () => {
  const { status, stdout } = await paymentsHere(['doctor', '--json'], env);
  const findings = JSON.parse(stdout) as { items: { check: string; note?: string }[] };
  return {
    status,
    note: findings.items.find(({ check }) => check.startsWith('everything that is sealed'))?.note,
  };
};

/** In the form of versions before 1.2, which does not depend on the row. */
const sealedBefore = (text: string, purpose: Purpose) =>
  sandboxVault().under('unbound').seal(text, { purpose, owner: null, id: '' });

const storeMany = (many: number) =>
  sql`
    insert into payment_methods (merchant_account_id, status, number_sealed)
    select 'default', 'succeeded', ${sealedBefore(number, 'card-number')} from generate_series(1, ${many})`.execute(
    db(),
  );

async function storeWithReplacement(): Promise<string> {
  const { secrets } = service;
  const card = {
    merchant_account_id: 'default',
    buyer_id: null,
    external_identifier: null,
    status: 'succeeded' as const,
    card_type: null,
    card_issuer_name: null,
    expiration_date: '12/39',
    redirect_url: null,
  };
  const stored = await silentWork(db(), (unit) => createPaymentMethod(unit, { ...card, number }, secrets));
  const id = 'made' in stored ? stored.made.id : '';
  await noteReplacement({ db: db(), secrets }, id, { expiration_date: '12/41' });
  return id;
}

/** Every value, opened. */
async function openAll(): Promise<Map<string, Set<string>>> {
  const { open } = sandboxVault().under(await findSealing(db()));
  const texts = new Map<string, Set<string>>();
  await listSealed(db(), ({ sealed, place }) => {
    const known = texts.get(place.purpose) ?? new Set();
    texts.set(place.purpose, known.add(open(sealed, place)));
  });
  return texts;
}

const login = { kind: 'basic', username: 'u', password: 'a password' };

describe('in the sandbox', () => {
  it('changes the key and binds all values during reads and writes, and removes the old key', async () => {
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
    // The service writes what versions before 1.2 can read: two numbers, a password, a secret, and a kept answer.
    expect(await countUnbound(db())).toBe(505);
    expect(await doctor()).toEqual({
      status: 0,
      note: 'new values are not bound to their rows, nor are 505: run payments secrets rotate',
    });
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
    await wait(300);
    over = true;
    await Promise.all(traffic);

    expect([status, stderr]).toEqual([0, '']);
    const [current, ...others] = keysNow();
    expect(others).toEqual([]);
    expect(current).not.toBe(old);
    expect(stdout).toMatch(
      new RegExp(
        `^Encrypted \\d+ values with key ${current ?? ''}; no value uses another key, and all are bound to their rows. The old key was removed from DATA_DIR.\n$`,
      ),
    );
    expect([...statuses.keys()].sort()).toEqual(['balance 200', 'card 201', 'list 200', 'subscribe 201']);
    expect(await keysUsed()).toEqual([current]);
    expect(await countUnbound(db())).toBe(0);
    expect(await doctor()).toEqual({ status: 0, note: undefined });

    // All values are unchanged.
    expect(await keyed()).toEqual([kept, 'true']);
    const texts = await openAll();
    expect(texts.get('card-number')).toContain(number);
    expect(texts.get('webhook-password')).toEqual(new Set(['a password']));
    for (const secret of texts.get('webhook-secret') ?? []) expect(secret).toMatch(/^whsec_/);
    const row = await findPaymentMethodOfAnyAccount(db(), waiting);
    expect(row?.replacement?.expiration_date).toBe('12/41');
    const place = { purpose: 'card-number', owner: 'default', id: waiting } as const;
    const { open } = sandboxVault().under('bound');
    expect(open(row?.replacement?.number_sealed ?? '', place)).toBe('5555555555554444');
    const { body } = await service.call('POST', '/gift-cards/balances', { token, body: stored });
    expect(body).toMatchObject({ items: [{ balance: 12550 }, { balance: 0 }] });
  });

  it('after it an unbound value is refused, and no later rotation binds it to where it was put', async () => {
    const [card] = giftCards;
    const ask = () =>
      service.call('POST', '/gift-cards/balances', {
        token: service.token('*.write', '*.read'),
        body: { items: [{ id: card?.id }] },
      });
    expect((await ask()).status).toBe(200);
    const { pin_sealed: good } = await db()
      .selectFrom('gift_cards')
      .select('pin_sealed')
      .where('id', '=', card?.id ?? '')
      .executeTakeFirstOrThrow();
    const put = (pin_sealed: string) =>
      db()
        .updateTable('gift_cards')
        .set({ pin_sealed })
        .where('id', '=', card?.id ?? '')
        .execute();
    await put(sealedBefore(card?.pin ?? '', 'gift-card-pin'));
    expect((await ask()).status).toBe(500);
    expect(service.logs.join('')).toContain('A stored value is not bound to its place.');
    expect(await doctor()).toEqual({ status: 1, note: undefined });
    const { status, stderr } = await paymentsHere(['secrets', 'rotate'], env);
    expect([status, stderr]).toEqual([
      1,
      `A value of gift_cards ${card?.id ?? ''} does not open. See: payments doctor\n`,
    ]);
    await put(good);
    expect((await ask()).status).toBe(200);
    expect((await paymentsHere(['secrets', 'rotate'], env)).status).toBe(0);
    expect((await ask()).status).toBe(200);
  });

  it('killed half-way, it completes on the next run with the key that it had created', async () => {
    await becomeOld();
    await storeMany(8_000);
    const child = startNode('server/cli/main.ts', ['secrets', 'rotate'], { env });
    while ((await keysUsed()).length < 2) await wait(5);
    child.process.kill('SIGKILL');
    await child.ended;
    const [made, old] = keysNow();
    expect((await keysUsed()).sort()).toEqual([made, old].sort());
    // Both forms open in between.
    expect(await findSealing(db())).toBe('binding');
    expect(await countUnbound(db())).toBeGreaterThan(0);
    expect((await openAll()).get('card-number')).toContain(number);
    const { status: health, note } = await doctor();
    expect(health).toBe(0);
    expect(note).toMatch(/^a rotation is not finished, [\d,]+ are not bound to their rows: /);
    const { status, stdout } = await paymentsHere(['secrets', 'rotate'], env);
    expect([status, stdout]).toEqual([0, expect.stringContaining(`with key ${made ?? ''}`)]);
    expect(keysNow()).toEqual([made]);
    expect(await keysUsed()).toEqual([made]);
    expect([await findSealing(db()), await countUnbound(db())]).toEqual(['bound', 0]);
    const { mode } = statSync(join(service.config.dataDir, 'secrets.json'));
    expect(mode & 0o777).toBe(0o600);
  });

  it('waits for older transactions, refuses a second rotation at the same time, and keeps the old key with --keep-old', async () => {
    await becomeOld();
    const [old] = keysNow();
    // A transaction that sealed a value with the old key, unbound, may commit after all other values were re-encrypted.
    const late = await db()
      .connection()
      .execute(async (connection) => {
        await sql`begin`.execute(connection);
        const { seal } = sandboxVault().under(await findSealing(connection));
        const sealed = seal(number, { purpose: 'card-number', owner: 'default', id: '' });
        const rotating = payments(['secrets', 'rotate', '--keep-old']);
        while (keysNow().length < 2) await wait(20);
        const second = await paymentsHere(['secrets', 'rotate'], env);
        expect([second.status, second.stderr]).toEqual([1, 'Another rotation is running.\n']);
        await sql`
        insert into payment_methods (merchant_account_id, status, number_sealed)
        values ('default', 'succeeded', ${sealed})`.execute(connection);
        expect(await findSealing(db())).toBe('binding');
        await sql`commit`.execute(connection);
        return rotating;
      });
    expect([late.status, late.stdout]).toEqual([0, expect.stringContaining('can be removed')]);
    expect(keysNow()).toHaveLength(2);
    expect(keysNow()[1]).toBe(old);
    expect(await keysUsed()).toEqual([keysNow()[0]]);
    expect([await findSealing(db()), await countUnbound(db())]).toEqual(['bound', 0]);
  });

  it('binds nothing while an instance of an older version is connected, which could not read it', async () => {
    await becomeOld();
    const before = keysNow();
    const older = new pg.Client({
      connectionString: service.config.databaseUrl,
      application_name: 'payments-service',
    });
    await older.connect();
    const { status, stderr } = await paymentsHere(['secrets', 'rotate'], env);
    await older.end();
    expect([status, stderr]).toEqual([1, expect.stringContaining('version before 1.2 uses the database')]);
    expect([await findSealing(db()), keysNow()]).toEqual(['unbound', before]);
  });
});

describe('where CARD_KEY is set', () => {
  const text = (...keys: Buffer[]) => keys.map((key) => key.toString('base64')).join(',');

  it('encrypts with the first key, and changes nothing when a key is missing', async () => {
    const file = JSON.parse(await readFile(join(service.config.dataDir, 'secrets.json'), 'utf8')) as {
      CARD_KEY: string;
    };
    const old = Buffer.from(file.CARD_KEY.split(',')[0] ?? '', 'base64');
    const fresh = randomBytes(32);
    const before = await countSealed(db());
    const rotateWith = (...keys: Buffer[]) =>
      paymentsHere(['secrets', 'rotate'], { ...env, CARD_KEY: text(...keys) });
    const missing = await rotateWith(fresh);
    expect([missing.status, missing.stderr]).toEqual([
      1,
      expect.stringContaining(`need a key that is missing: ${keyIdOf(old)}`),
    ]);
    expect(await countSealed(db())).toEqual(before);

    // One step too early: the old key is still the first.
    const early = await rotateWith(old, fresh);
    expect([early.status, early.stdout]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(`^Nothing to do: .*${keyIdOf(old)}\\. To rotate, put the new key first`),
      ),
    ]);

    const done = await rotateWith(fresh, old);
    expect([done.status, done.stdout]).toEqual([0, expect.stringContaining('can be removed from CARD_KEY')]);
    expect(await keysUsed()).toEqual([keyIdOf(fresh)]);
    // secrets.json was not changed, because the key comes from CARD_KEY.
    expect(keysNow()[0]).toBe(keyIdOf(old));
  });
});

it('lists every sealed column of the database', async () => {
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' and column_name like '%sealed%'`.execute(db());
  const known = sealedColumns.map(({ value }) => value.compile(db()).sql.replaceAll('"', ''));
  expect(rows.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
  expect(known.filter((name) => name.includes('replacement'))).toHaveLength(1);
});
