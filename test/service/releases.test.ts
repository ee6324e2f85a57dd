// The data of every release starts with the current version, and everything in it still works. Made by
// test/fixtures/releases/make.ts. The folder of an older release is opened in test/process/upgrades/.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { SecretName } from '../../server/settings.ts';
import { newDataDir, type DataDir } from '../support/data-dir.ts';
import { query } from '../support/database.ts';
import { paymentsHere } from '../support/in-process.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { loadRelease, releases } from '../support/releases.ts';
import { startTestService, type TestService } from '../support/service.ts';

it('the data of every release is there', () => {
  expect(releases.map(({ version }) => version)).toEqual(expect.arrayContaining(['1.0.0', '1.1.0', '1.2.0']));
});

describe.each(releases)('data of $version', (release) => {
  const { secrets, request, list, card, subscription } = release;
  let dataDir: DataDir;
  let receiver: Receiver;
  let databaseUrl: string;
  let service: TestService;
  let counts: Record<string, number>;

  const countRows = async (tables: string[]) => {
    const columns = tables.map((table) => `(select count(*)::integer from ${table}) as ${table}`);
    return (await query(databaseUrl, `select ${columns.join(', ')}`))[0] as Record<string, number>;
  };
  const payments = async (command: string) => {
    const env = { ...secrets, DATA_DIR: dataDir.path, DATABASE_URL: databaseUrl };
    const { status, stdout, stderr } = await paymentsHere(command.split(' '), env);
    expect([status, stderr, command]).toEqual([0, '', command]);
    return stdout;
  };
  const listed = async (command: string) =>
    (JSON.parse(await payments(`${command} --json`)) as { items: { id: string; status: string }[] }).items;

  beforeAll(async () => {
    dataDir = await newDataDir();
    await mkdir(dataDir.path, { mode: 0o700 });
    await writeFile(join(dataDir.path, 'sandbox-key.pem'), release.private_key, { mode: 0o600 });
    receiver = await startReceiver();
    databaseUrl = await loadRelease(release);
    await query(
      databaseUrl,
      `update webhook_subscriptions set url = '${receiver.url}' where id = '${subscription.id}'`,
    );
    const keys = Object.entries(secrets).map(([name, text]) => [name, [Buffer.from(text, 'base64')]]);
    const config = {
      databaseUrl,
      dataDir: dataDir.path,
      secrets: Object.fromEntries(keys) as Record<SecretName, [Buffer]>,
    };
    service = await startTestService({ config });
    counts = await countRows(Object.keys(release.rows));
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
    await dataDir[Symbol.asyncDispose]();
  });

  it('the service is ready, and every row is there', async () => {
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    const { applied_migrations: _, delivery_attempts: before = 0, ...same } = release.rows;
    expect(counts).toMatchObject(same);
    // The worker may have made some meanwhile.
    expect(counts.delivery_attempts).toBeGreaterThanOrEqual(before);
  });

  it('a delivery that was pending reaches its receiver, with the signature and the password of the subscription', async () => {
    await receiver.received(1);
    const [got] = receiver.got;
    new Webhook(subscription.secret).verify(got?.body ?? '', got?.headers as Record<string, string>);
    const { username, password } = subscription;
    expect(got?.headers.authorization).toBe(
      `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    );
    const pending = `select id from deliveries where state = 'pending' and subscription_id = '${subscription.id}'`;
    await vi.waitUntil(async () => (await query(databaseUrl, pending)).length === 0, { timeout: 20_000 });
  });

  it('a token of its key pair is accepted, and its cursor leads to the same page', async () => {
    const { status, body } = await service.call('GET', list.path, { token: service.token('*.read') });
    expect(status).toBe(200);
    expect((body as { items: { id: string }[] }).items.map(({ id }) => id)).toEqual(list.ids);
  });

  it('its key pairs without accounts of their own are for all accounts, and the others are not', async () => {
    const pairs = await query(
      databaseUrl,
      `select all_accounts, exists (select from api_key_pair_merchant_accounts where api_key_pair_id = id) as limited
       from api_key_pairs group by 1, 2 order by 1`,
    );
    expect(pairs).toEqual([
      { all_accounts: false, limited: true },
      { all_accounts: true, limited: false },
    ]);
  });

  it('a POST with a key that was used before is answered with the same bytes', async () => {
    const { status, text, headers } = await service.call('POST', request.path, {
      token: service.token('*.write'),
      body: request.body,
      headers: { 'Idempotency-Key': request.key },
    });
    expect([status, headers.get('idempotency-replayed')]).toEqual([request.status, 'true']);
    expect(text).toBe(request.answer);
  });

  it('a stored card has the same fingerprint when its number is stored again', async () => {
    const { body } = await service.call('POST', '/payment-methods', {
      token: service.token('*.write'),
      body: { method: 'card', number: card.number, expiration_date: '12/38', security_code: '123' },
    });
    expect(body).toMatchObject({ status: 'succeeded', fingerprint: card.fingerprint });
  });

  it.each([
    ['transactions', 'processing', 'authorization_succeeded'],
    ['payment-methods', 'buyer_approval_required', 'succeeded'],
  ])('payments %s lists and changes what it has', async (noun, from, to) => {
    const found = (await listed(`${noun} list`)).find(({ status }) => status === from);
    await payments(`${noun} move ${String(found?.id)} ${to}`);
    expect(await listed(`${noun} list`)).toContainEqual(
      expect.objectContaining({ id: found?.id, status: to }),
    );
  });

  it('payments doctor finds nothing wrong in it', async () => {
    expect(await payments('doctor')).toMatch(/\nAll \d+ checks passed\.\n$/);
  });

  // The jobs of a day have run since the start.
  it('no row was removed', async () => {
    const now = await countRows(Object.keys(release.rows));
    const fewer = Object.entries(release.rows).filter(([table, rows]) => (now[table] ?? 0) < rows);
    expect(fewer).toEqual([]);
  });
});
