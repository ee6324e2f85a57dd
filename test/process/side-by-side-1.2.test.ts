// Version 1.2.0 and this one serve on one database. Only since 1.1 there are idempotency keys: no version may carry out again
// what the other has answered.
import { createPrivateKey, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { signToken } from '../../server/domain/token.ts';
import { createEmptyDatabase, withClient } from '../support/database.ts';
import { unpackOldVersion, type OldVersion } from '../support/old-version.ts';
import { startServer, type Server } from '../support/processes.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { card, until } from '../support/webhooks.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let old: OldVersion | undefined;
let receiver: Receiver;
let dataDir: string;
let databaseUrl: string;
const servers: Server[] = [];

beforeAll(async () => {
  old = await unpackOldVersion('1.2.0');
  receiver = await startReceiver();
  dataDir = await mkdtemp(join(tmpdir(), 'payments-service-'));
  databaseUrl = await createEmptyDatabase();
});
afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true });
  await old?.[Symbol.asyncDispose]();
});

const start = async (env: Record<string, string> = {}, folder?: string): Promise<Server> => {
  const server = await startServer(
    { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, PORT: '0', ...env },
    folder,
  );
  servers.push(server);
  return server;
};

const count = (what: string) =>
  withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ total: number }>(`select count(*)::integer as total from ${what}`);
    return rows[0]?.total ?? 0;
  });

it('no request is carried out twice, and every event is delivered once', async ({ skip }) => {
  if (!old) return skip('the history of git, which has the code of version 1.2.0, is missing');
  const before = await start({}, old.folder);
  const key = createPrivateKey(await readFile(join(dataDir, 'sandbox-key.pem')));
  const token = signToken(key, ['*.read', '*.write'], 600);
  const post = async (server: Server, path: string, body: object, keyed: string) => {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': keyed,
      },
      body: JSON.stringify(body),
    });
    const { id } = (await response.json()) as { id?: string };
    return { status: response.status, id, replayed: response.headers.get('idempotency-replayed') };
  };
  const store = (server: Server, keyed: string) => post(server, '/payment-methods', card, keyed);
  await post(before, '/webhook-subscriptions', { url: receiver.url }, randomUUID());
  const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
  const byOld = await store(before, first);
  expect(byOld.status).toBe(201);

  const after = await start();
  const stored = await count('payment_methods');
  expect(await store(after, first)).toEqual({ ...byOld, replayed: 'true' });
  const sideBySide = await store(before, second);
  expect(await store(after, second)).toEqual({ ...sideBySide, replayed: 'true' });
  expect(await store(before, second)).toEqual({ ...sideBySide, replayed: 'true' });

  // The old version does not find the answer of the new one. It takes the request for one that is still running.
  const byNew = await store(after, third);
  expect(byNew).toMatchObject({ status: 201, replayed: 'false' });
  await withClient(databaseUrl, (client) =>
    // As after the fifteen seconds of a lease.
    client.query(`update idempotency_keys set claimed_until = now() where claimed_until < 'infinity'`),
  );
  expect(await store(before, third)).toMatchObject({ status: 500 });
  expect(await store(after, third)).toEqual({ ...byNew, replayed: 'true' });
  expect(await count('payment_methods')).toBe(stored + 2);

  // A claim of a process that was killed lapses, whoever made it.
  const lapsed = randomUUID();
  await store(before, lapsed);
  await withClient(databaseUrl, (client) =>
    client.query(
      `update idempotency_keys set answer_sealed = null, claimed_until = now()
       where created_at = (select max(created_at) from idempotency_keys)`,
    ),
  );
  expect(await store(after, lapsed)).toMatchObject({ status: 201, replayed: 'false' });

  // Workers of both versions deliver, also to events of each other. Both know what the other has recorded.
  for (const server of [before, after, before, after]) await store(server, randomUUID());
  await until(async () => (await count(`deliveries where state = 'pending'`)) === 0);
  const total = await count('deliveries');
  expect(total).toBe(9);
  expect(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size).toBe(total);
  expect(receiver.got).toHaveLength(total);
  expect(
    await count(`delivery_attempts as attempt join deliveries
    on deliveries.merchant_account_id = attempt.merchant_account_id and deliveries.id = delivery_id`),
  ).toBe(total);
  // But for the answer with 500.
  expect(before.output().match(/"level":50.*/g)).toEqual([
    expect.stringContaining('another request with this key is still running'),
  ]);
  expect(after.output()).not.toContain('"level":50');

  // As docs/guides/operator.md says. Once it can be started, that guide must say so.
  await expect(start({}, old.folder)).rejects.toThrow('column reference "merchant_account_id" is ambiguous');
});
