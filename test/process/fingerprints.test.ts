// Fingerprints of before 1.2, and those of an older key, are rewritten while the service runs.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { rewriteFingerprints } from '../../server/actions/fingerprints.ts';
import { createPaymentMethod, type CardSecrets } from '../../server/actions/payment-methods.ts';
import { createFingerprints, shownFingerprint } from '../../server/domain/fingerprints.ts';
import { createVault } from '../../server/domain/vault.ts';
import { countFingerprints } from '../../server/store/fingerprints.ts';
import { findPaymentMethodOfAnyAccount } from '../../server/store/payment-methods.ts';
import { countSealed } from '../../server/store/reseal.ts';
import { createPayments } from '../support/processes.ts';
import { newNumber, noteReplacement, silentWork } from '../support/records.ts';
import { startTestService, type TestService } from '../support/service.ts';

vi.setConfig({ testTimeout: 120_000 });

const number = '4242424242424242';
const legacyKey = randomBytes(32);
/** As 1.1 made them. */
const legacy = (text: string) => createHmac('sha256', legacyKey).update(text).digest('hex');

let service: TestService;
beforeEach(async () => {
  service = await startTestService({ config: { webhookWorker: false } });
  const isDone = () => service.logs.some((line) => line.includes('"job":"fingerprints","done"'));
  await vi.waitUntil(isDone, { timeout: 30_000 });
  await sql`delete from transactions`.execute(db());
  await sql`delete from payment_methods`.execute(db());
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
});
const db = () => service.service.database.db;

async function storeCard(
  values: { account?: string; status?: 'succeeded' | 'failed'; number?: string } = {},
  secrets: CardSecrets = service.secrets,
): Promise<string> {
  const { account = 'default', status = 'succeeded', number: own = number } = values;
  const stored = await silentWork(db(), (unit) =>
    createPaymentMethod(
      unit,
      {
        merchant_account_id: account,
        buyer_id: null,
        external_identifier: null,
        status,
        card_type: null,
        card_issuer_name: null,
        expiration_date: '12/39',
        redirect_url: null,
        number: own,
      },
      secrets,
    ),
  );
  return 'made' in stored ? stored.made.id : '';
}

/** The card as 1.1 stored it. Old instances still do so during a rolling upgrade. */
async function makeLegacy(id: string, own = number): Promise<string> {
  await sql`
    update payment_methods set fingerprint = ${legacy(own)}, account_fingerprint = null, updated_at = '2026-01-01'
    where id = ${id}`.execute(db());
  return id;
}

/** As the migration leaves an account that existed before. */
const asMigrated = (account = 'default') =>
  sql`
    insert into fingerprint_progress (merchant_account_id, version, phase) values (${account}, '', 'cards')
    on conflict (merchant_account_id) do update set version = '', phase = 'cards', after = null, whole = true`.execute(
    db(),
  );

const cardWith = (id: string, fingerprint: string | null, status = 'succeeded') => ({
  type: 'payment-method',
  id,
  label: '"fingerprint":"' + 'f'.repeat(64) + '"',
  status,
  fingerprint,
});

async function storeEvent(target: object, name = 'payment-method.created', account = 'default') {
  const id = randomUUID();
  const body = JSON.stringify({ type: 'event', id, name, merchant_account_id: account, target });
  await sql`
    insert into events (id, name, merchant_account_id, body, created_at)
    values (${id}, ${name}, ${account}, ${body}, now())`.execute(db());
  return id;
}

async function storeTransaction(card: object, account = 'default'): Promise<string> {
  const id = randomUUID();
  await sql`
    insert into transactions (id, merchant_account_id, created_at, updated_at, status, intent, amount, authorized_amount,
      captured_amount, refunded_amount, currency, pending_review, settled, settled_amount, payment_method,
      gift_card_redemptions, metadata, merchant_initiated, is_subsequent_payment, has_gift_card_redemptions, has_refunds,
      has_settlements)
    values (${id}, ${account}, now(), '2026-01-01', 'processing', 'authorize', 1, 0, 0, 0, 'USD', false, false, 0,
      ${JSON.stringify(card)}, '[]', '{}', false, false, false, false, false)`.execute(db());
  return id;
}

const snapshotOf = async (id: string) => {
  const { rows } = await sql<{ text: string; updated_at: Date }>`
    select payment_method::text as text, updated_at from transactions where id = ${id}`.execute(db());
  return rows[0];
};
const bodyOf = async (id: string) => {
  const { rows } = await sql<{ body: string }>`select body from events where id = ${id}`.execute(db());
  return rows[0]?.body ?? '';
};
const shownIn = (account: string, own = number, secrets: CardSecrets = service.secrets) =>
  shownFingerprint(secrets.fingerprints.make(account, own));

const rewrite = (
  secrets: CardSecrets = service.secrets,
  stopAfter = Infinity,
  onFault: (card: string, error: unknown) => unknown = (_card, error) => {
    throw error;
  },
) => {
  let batches = 0;
  return rewriteFingerprints(db(), secrets, {
    onProgress: () => (batches += 1),
    onFault,
    isStopping: () => batches >= stopAfter,
  });
};

describe('fingerprints of before 1.2', () => {
  it('are rewritten in cards, snapshots and events, without events and without a new updated_at', async () => {
    const card = await makeLegacy(await storeCard());
    const other = await makeLegacy(await storeCard({ account: 'marketplace' }));
    const failed = await makeLegacy(await storeCard({ status: 'failed', number: newNumber }), newNumber);
    const fresh = await storeCard({ number: '4111111111111111' });
    const [known, former, foreign] = [
      await storeTransaction(cardWith(card, legacy(number))),
      await storeTransaction(cardWith(card, legacy('4012888888881881'))),
      await storeTransaction(cardWith(card, 'of another system')),
    ];
    const elsewhere = await storeTransaction(cardWith(other, legacy(number)), 'marketplace');
    const [created, paid, ofFailed, ofFresh, unknown] = [
      await storeEvent(cardWith(card, legacy(number))),
      await storeEvent({ payment_method: cardWith(card, legacy(number)) }, 'transaction.created'),
      await storeEvent(cardWith(failed, legacy(newNumber), 'failed')),
      await storeEvent(cardWith(fresh, shownIn('default', '4111111111111111'))),
      await storeEvent(cardWith(randomUUID(), legacy('4012888888881881'))),
    ];
    const before = await bodyOf(created);
    const events = await db().selectFrom('events').select('id').orderBy('id').execute();
    await asMigrated();
    await asMigrated('marketplace');

    await rewrite();

    expect(await findPaymentMethodOfAnyAccount(db(), card)).toMatchObject({
      fingerprint: null,
      account_fingerprint: service.secrets.fingerprints.make('default', number),
      updated_at: new Date('2026-01-01'),
    });
    expect(await findPaymentMethodOfAnyAccount(db(), failed)).toMatchObject({
      fingerprint: null,
      account_fingerprint: null,
    });
    const mine = shownIn('default');
    expect(await snapshotOf(known)).toEqual({
      text: JSON.stringify(cardWith(card, mine)),
      updated_at: new Date('2026-01-01'),
    });
    expect(JSON.parse((await snapshotOf(former))?.text ?? '')).toMatchObject({ fingerprint: null });
    expect(JSON.parse((await snapshotOf(foreign))?.text ?? '')).toMatchObject({
      fingerprint: 'of another system',
    });
    expect(JSON.parse((await snapshotOf(elsewhere))?.text ?? '')).toMatchObject({
      fingerprint: shownIn('marketplace'),
    });
    // Only the fingerprint changes, so that receivers see the same event.
    expect(await bodyOf(created)).toBe(before.replace(legacy(number), mine ?? ''));
    expect(await bodyOf(paid)).toContain(`"fingerprint":"${mine ?? ''}"`);
    expect(await bodyOf(ofFailed)).toContain('"fingerprint":null');
    expect(await bodyOf(ofFresh)).toContain(shownIn('default', '4111111111111111'));
    expect(await bodyOf(unknown)).toContain('"fingerprint":null');
    expect(await db().selectFrom('events').select('id').orderBy('id').execute()).toEqual(events);
    expect(await db().selectFrom('fingerprint_moves').selectAll().execute()).toEqual([]);
    expect(await rewrite()).toBe(0);
  });

  it('continue after every interruption', async () => {
    const cards = [await makeLegacy(await storeCard()), await makeLegacy(await storeCard())];
    const transaction = await storeTransaction(cardWith(cards[0] ?? '', legacy(number)));
    const event = await storeEvent(cardWith(cards[0] ?? '', legacy(number)));
    await asMigrated();
    let runs = 0;
    const isDone = async () =>
      (await db().selectFrom('fingerprint_progress').select('phase').execute()).every(
        ({ phase }) => phase === 'done',
      );
    for (; !(await isDone()); runs += 1) await rewrite(service.secrets, 1);
    expect(runs).toBeGreaterThan(3);
    expect((await snapshotOf(transaction))?.text).toContain(shownIn('default'));
    expect(await bodyOf(event)).toContain(shownIn('default'));
  });

  it('of a card that an old instance stores after that are rewritten too, and nothing becomes null', async () => {
    await asMigrated();
    await rewrite();
    const kept = await storeTransaction(cardWith(randomUUID(), 'a'.repeat(64)));
    const card = await makeLegacy(await storeCard());
    const event = await storeEvent(cardWith(card, legacy(number)));
    await rewrite();
    expect(await findPaymentMethodOfAnyAccount(db(), card)).toMatchObject({ fingerprint: null });
    expect(await bodyOf(event)).toContain(shownIn('default'));
    expect((await snapshotOf(kept))?.text).toContain('a'.repeat(64));
  });

  it('of a card that an old instance stores meanwhile stay until its card is rewritten', async () => {
    await makeLegacy(await storeCard());
    await asMigrated();
    // Two batches: the cards, and that there are no more.
    await rewrite(service.secrets, 2);
    const card = await makeLegacy(await storeCard({ number: newNumber }), newNumber);
    const transaction = await storeTransaction(cardWith(card, legacy(newNumber)));
    const event = await storeEvent(cardWith(card, legacy(newNumber)));
    await rewrite();
    expect(await bodyOf(event)).toContain(legacy(newNumber));
    await rewrite();
    expect((await snapshotOf(transaction))?.text).toContain(shownIn('default', newNumber));
    expect(await bodyOf(event)).toContain(shownIn('default', newNumber));
  });

  it('of a card whose number does not open, such as without its key, stay until it does', async () => {
    const card = await makeLegacy(await storeCard());
    const transaction = await storeTransaction(cardWith(card, legacy(number)));
    const event = await storeEvent(cardWith(card, legacy(number)));
    await asMigrated();
    const faults: string[] = [];
    const withoutKey = { ...service.secrets, vault: createVault([randomBytes(32)]) };
    await rewrite(withoutKey, Infinity, (id) => faults.push(id));
    expect(faults).toEqual([card]);
    expect((await snapshotOf(transaction))?.text).toContain(legacy(number));
    await rewrite();
    expect((await snapshotOf(transaction))?.text).toContain(shownIn('default'));
    expect(await bodyOf(event)).toContain(shownIn('default'));
  });

  it('are rewritten to the newest key when the key changes before the rewrite has ended', async () => {
    const card = await makeLegacy(await storeCard());
    const transaction = await storeTransaction(cardWith(card, legacy(number)));
    const event = await storeEvent(cardWith(card, legacy(number)));
    await asMigrated();
    await rewrite(service.secrets, 1);
    const keys = [randomBytes(32), service.config.secrets.FINGERPRINT_KEY ?? Buffer.alloc(0)] as const;
    const rotated = { ...service.secrets, fingerprints: createFingerprints(keys) };
    await rewrite(rotated);
    expect((await snapshotOf(transaction))?.text).toContain(shownIn('default', number, rotated));
    expect(await bodyOf(event)).toContain(shownIn('default', number, rotated));
  });

  it('are not shown', async () => {
    const id = await makeLegacy(await storeCard());
    const payments = createPayments({
      DATABASE_URL: service.config.databaseUrl,
      DATA_DIR: service.config.dataDir,
    });
    expect(
      (await payments(['payment-methods', 'found-replacement', id, '--expiration-date', '12/44'], '')).status,
    ).toBe(0);
    const { body } = await db()
      .selectFrom('events')
      .select('body')
      .where('body', 'like', `%${id}%`)
      .executeTakeFirstOrThrow();
    expect(JSON.parse(body)).toMatchObject({ target: { id, expiration_date: '12/44', fingerprint: null } });
  });
});

describe('fingerprints of different versions are not compared', () => {
  const rotated = (): CardSecrets => ({
    ...service.secrets,
    fingerprints: createFingerprints([randomBytes(32)]),
  });

  it.each([
    ['before 1.2', async () => makeLegacy(await storeCard())],
    ['of another key', () => storeCard({}, rotated())],
  ])('%s: a replacement with the same number is no new card', async (_name, stored) => {
    const id = await stored();
    const { secrets } = service;
    const same = await noteReplacement({ db: db(), secrets }, id, { number, expiration_date: '12/44' });
    expect(same).toMatchObject({ has_replacement: false, expiration_date: '12/44', label: '4242' });
    const changed = await noteReplacement({ db: db(), secrets }, id, { number: newNumber });
    expect(changed).toMatchObject({ has_replacement: true });
    // The same details again, found by an instance with another key: nothing changes.
    const again = await noteReplacement({ db: db(), secrets: rotated() }, id, { number: newNumber });
    expect(again?.updated_at).toEqual(changed?.updated_at);
  });
});

describe('a rotation of FINGERPRINT_KEY', () => {
  const payments = (...keys: (Buffer | undefined)[]) =>
    createPayments({
      DATABASE_URL: service.config.databaseUrl,
      DATA_DIR: service.config.dataDir,
      FINGERPRINT_KEY: keys.map((key) => key?.toString('base64')).join(','),
    });
  const restart = (secrets: Buffer, olderFingerprintKeys: Buffer[]) =>
    startTestService({
      firstStart: true,
      config: {
        databaseUrl: service.config.databaseUrl,
        dataDir: service.config.dataDir,
        secrets: { ...service.config.secrets, FINGERPRINT_KEY: secrets },
        olderFingerprintKeys,
      },
    });

  it('keeps repeated requests, counts and comparisons, and ends with one key', async () => {
    const [old, fresh] = [service.config.secrets.FINGERPRINT_KEY ?? Buffer.alloc(0), randomBytes(32)];
    const store = (one: TestService, own: string, key: string) =>
      one.call('POST', '/payment-methods', {
        token: service.token('*.write'),
        headers: { 'Idempotency-Key': key },
        body: { method: 'card', number: own, expiration_date: '12/39' },
      });
    const first = await store(service, number, 'before');
    const { id } = first.body as { id: string };
    const waiting = await storeCard();
    await noteReplacement({ db: db(), secrets: service.secrets }, waiting);
    {
      // The old instance is still running.
      await using rotated = await restart(fresh, [old]);
      await vi.waitUntil(() => rotated.logs.some((line) => /"job":"fingerprints","done"/.test(line)));
      const again = await store(rotated, number, 'before');
      expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
      const made = await store(rotated, number, 'after');
      const repeated = await store(service, number, 'after');
      expect([repeated.text, repeated.headers.get('idempotency-replayed')]).toEqual([made.text, 'true']);
      expect((made.body as { fingerprint: string }).fingerprint).toBe(
        shownIn('default', number, rotated.secrets),
      );
      expect((await findPaymentMethodOfAnyAccount(db(), id))?.account_fingerprint).toBe(
        rotated.secrets.fingerprints.make('default', number),
      );
      expect((await findPaymentMethodOfAnyAccount(db(), waiting))?.replacement?.account_fingerprint).toBe(
        rotated.secrets.fingerprints.make('default', newNumber),
      );
      // The old instance stores another, and does not undo what the new one did.
      await store(service, '4111111111111111', 'by the old one');
      expect(await rewrite()).toBe(0);
    }
    const status = async (...keys: Buffer[]) =>
      JSON.parse((await payments(...keys)(['secrets', 'status', '--json'])).stdout) as {
        fingerprints: { made_with: string; cards: number }[];
        keys: { variable: string; position: number | null; id: string; values?: number }[];
      };
    const names = async (...keys: Buffer[]) =>
      (await status(...keys)).fingerprints.map(({ made_with, cards }) => `${cards} ${made_with}`).sort();
    expect(await names(fresh, old)).toEqual(['1 an older FINGERPRINT_KEY', '3 the first FINGERPRINT_KEY']);
    const ids = createFingerprints([fresh, old]);
    const [newId, oldId] = [ids.version, ids.older[0]];
    const variable = 'FINGERPRINT_KEY';
    const { keyId } = service.secrets.vault;
    const sealed = (await countSealed(db())).get(keyId);
    expect((await status(fresh, old)).keys).toMatchObject([
      { variable: 'CARD_KEY', position: 1, id: keyId, values: sealed },
      { variable, position: 1, id: newId, values: 3 },
      { variable, position: 2, id: oldId, values: 1 },
      { variable: 'CURSOR_KEY', position: 1 },
    ]);
    const { keys } = await status(fresh);
    expect(keys).toContainEqual({ variable, position: null, id: oldId, values: 1 });
    const { status: code, stdout } = await payments(fresh, old)(['secrets', 'rewrite-fingerprints']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Rewrote \d+ records?\. /)]);
    expect(await names(fresh)).toEqual(['4 the first FINGERPRINT_KEY']);
  });

  it('counts numbers that are alike over all keys', async () => {
    const [old, fresh] = [service.config.secrets.FINGERPRINT_KEY ?? Buffer.alloc(0), randomBytes(32)];
    const guess = (one: TestService, middle: number) =>
      one.call('POST', '/payment-methods', {
        token: service.token('*.write'),
        body: {
          method: 'card',
          number: `42424242${String(middle).padStart(4, '0')}4242`,
          expiration_date: '12/39',
        },
      });
    for (let middle = 0; middle < 20; middle += 1) expect((await guess(service, middle)).status).toBe(201);
    await using rotated = await restart(fresh, [old]);
    expect((await guess(rotated, 3)).status).toBe(201);
    expect((await guess(rotated, 20)).status).toBe(429);
    expect((await guess(service, 3)).status).toBe(429);
  });

  it('without the old key can still be finished', async () => {
    await storeCard({}, { ...service.secrets, fingerprints: createFingerprints([randomBytes(32)]) });
    const own = payments(service.config.secrets.FINGERPRINT_KEY);
    const { stdout } = await own(['secrets', 'status']);
    expect(stdout).toMatch(/^variable +position +id +values\nCARD_KEY +1 /);
    expect(stdout).toMatch(/^FINGERPRINT_KEY +- +\w+ +1$/m);
    expect(stdout).toMatch(
      /^version +made_with +cards\n(.*\n)*\w+ +a key that is not in FINGERPRINT_KEY +1$/m,
    );
    await own(['secrets', 'rewrite-fingerprints', '--all']);
    expect([...(await countFingerprints(db())).keys()]).toEqual([service.secrets.fingerprints.version]);
  });
});
