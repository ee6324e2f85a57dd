// `payments secrets rotate` changes the card key while the service runs, without failed requests.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createVault, keyIdOf, type Vault } from '../../server/domain/vault.ts';
import { watchCardKeys } from '../../server/sandbox/secrets-file.ts';
import { createPaymentMethod } from '../../server/actions/payment-methods.ts';
import { createFingerprints } from '../../server/domain/fingerprints.ts';
import { countSealed, sealedColumns } from '../../server/store/reseal.ts';
import { giftCards } from '../../server/sandbox/sample-records.ts';
import { createPayments, startNode, type Payments } from '../support/processes.ts';
import { noteReplacement, silentWork } from '../support/records.ts';
import { noSecrets, startTestService, type TestService } from '../support/service.ts';

// Each command runs in its own process.
vi.setConfig({ testTimeout: 180_000 });

const number = '4242424242424242';

let service: TestService;
let env: Record<string, string | undefined>;
let payments: Payments;

beforeEach(async () => {
  service = await startTestService({ config: { secrets: noSecrets } });
  env = { DATABASE_URL: service.config.databaseUrl, DATA_DIR: service.config.dataDir };
  payments = createPayments(env);
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
});

const db = () => service.service.database.db;
const keysNow = () => watchCardKeys(service.config.dataDir)().map(keyIdOf);
const keysUsed = async () => [...(await countSealed(db())).keys()];

async function storeMany(vault: Vault, many: number): Promise<void> {
  const sealed = vault.seal(number, 'card');
  await sql`
    insert into payment_methods (merchant_account_id, status, number_sealed)
    select 'default', 'succeeded', ${sealed} from generate_series(1, ${many})`.execute(db());
}

async function storeWithReplacement(vault: Vault): Promise<string> {
  const secrets = { vault, fingerprints: createFingerprints([Buffer.alloc(32)]) };
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

const sandboxVault = () => createVault(watchCardKeys(service.config.dataDir));

const login = { kind: 'basic', username: 'u', password: 'a password' };

describe('in the sandbox', () => {
  it('changes the key during reads and writes, and removes the old key when no value uses it', async () => {
    const [old] = keysNow();
    const waiting = await storeWithReplacement(sandboxVault());
    const keyed = async () => {
      const answer = await service.call('POST', '/webhook-subscriptions', {
        token: service.token('*.write'),
        body: { active: false, url: 'https://keyed.example', authentication: login },
        headers: { 'Idempotency-Key': 'kept during a rotation' },
      });
      return [answer.text, answer.headers.get('idempotency-replayed')];
    };
    const [kept] = await keyed();
    await storeMany(sandboxVault(), 500);
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
    const { status, stdout, stderr } = await payments(['secrets', 'rotate']);
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
        `^Encrypted \\d+ values with key ${current ?? ''}; no value uses another key. The old key was removed from DATA_DIR.\n$`,
      ),
    );
    expect([...statuses.keys()].sort()).toEqual(['balance 200', 'card 201', 'list 200', 'subscribe 201']);
    expect(await keysUsed()).toEqual([current]);

    // All values are unchanged.
    expect(await keyed()).toEqual([kept, 'true']);
    const vault = sandboxVault();
    const rows = await db()
      .selectFrom('payment_methods')
      .select(['id', 'number_sealed', 'replacement'])
      .execute();
    const opened = new Set(
      rows.flatMap(({ number_sealed: sealed }) => (sealed === null ? [] : vault.open(sealed, 'card'))),
    );
    expect(opened).toContain(number);
    const replacement = rows.find(({ id }) => id === waiting)?.replacement;
    expect(replacement?.expiration_date).toBe('12/41');
    expect(vault.open(replacement?.number_sealed ?? '', 'card')).toBe('5555555555554444');
    const subscriptions = await db().selectFrom('webhook_subscriptions').selectAll().execute();
    for (const { password_sealed, secret_sealed } of subscriptions) {
      expect(vault.open(password_sealed ?? '', 'webhook')).toBe('a password');
      expect(vault.open(secret_sealed, 'webhook')).toMatch(/^whsec_/);
    }
    const { body } = await service.call('POST', '/gift-cards/balances', { token, body: stored });
    expect(body).toMatchObject({ items: [{ balance: 12550 }, { balance: 0 }] });
  });

  it('killed half-way, it completes on the next run with the key that it had created', async () => {
    await storeMany(sandboxVault(), 20_000);
    const child = startNode('server/cli/main.ts', ['secrets', 'rotate'], { env });
    while ((await keysUsed()).length < 2) await wait(5);
    child.process.kill('SIGKILL');
    await child.ended;
    const [made, old] = keysNow();
    expect((await keysUsed()).sort()).toEqual([made, old].sort());
    const { status, stdout } = await payments(['secrets', 'rotate']);
    expect([status, stdout]).toEqual([0, expect.stringContaining(`with key ${made ?? ''}`)]);
    expect(keysNow()).toEqual([made]);
    expect(await keysUsed()).toEqual([made]);
    const { mode } = await import('node:fs').then(({ statSync }) =>
      statSync(join(service.config.dataDir, 'secrets.json')),
    );
    expect(mode & 0o777).toBe(0o600);
  });

  it('waits for older transactions, refuses a second rotation at the same time, and keeps the old key with --keep-old', async () => {
    const [old] = keysNow();
    // A transaction that sealed a value with the old key may commit after all other values were re-encrypted.
    const late = await db()
      .connection()
      .execute(async (connection) => {
        await sql`begin`.execute(connection);
        const sealed = sandboxVault().seal(number, 'card');
        const rotating = payments(['secrets', 'rotate', '--keep-old']);
        while (keysNow().length < 2) await wait(20);
        const second = await payments(['secrets', 'rotate']);
        expect([second.status, second.stderr]).toEqual([1, 'Another rotation is running.\n']);
        await sql`
        insert into payment_methods (merchant_account_id, status, number_sealed)
        values ('default', 'succeeded', ${sealed})`.execute(connection);
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

  it('encrypts with the first key, and changes nothing when a key is missing', async () => {
    const file = JSON.parse(await readFile(join(service.config.dataDir, 'secrets.json'), 'utf8')) as {
      CARD_KEY: string;
    };
    const old = Buffer.from(file.CARD_KEY, 'base64');
    const fresh = randomBytes(32);
    const before = await countSealed(db());
    const missing = await createPayments({ ...env, CARD_KEY: text(fresh) })(['secrets', 'rotate']);
    expect([missing.status, missing.stderr]).toEqual([
      1,
      expect.stringContaining(`need a key that is missing: ${keyIdOf(old)}`),
    ]);
    expect(await countSealed(db())).toEqual(before);

    const done = await createPayments({ ...env, CARD_KEY: text(fresh, old) })(['secrets', 'rotate']);
    expect([done.status, done.stdout]).toEqual([0, expect.stringContaining('can be removed from CARD_KEY')]);
    expect(await keysUsed()).toEqual([keyIdOf(fresh)]);
    // secrets.json was not changed, because the key comes from CARD_KEY.
    expect(keysNow()).toEqual([keyIdOf(old)]);
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
