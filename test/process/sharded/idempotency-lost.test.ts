// Idempotency-Key where it matters: two instances at once, a confirmation that is lost between PostgreSQL and the service, and
// a service that is killed between commit and answer.
import { createPrivateKey, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openReadyDatabase } from '../../../server/database/open.ts';
import { verifySimulatedCard } from '../../../server/providers/simulated.ts';
import { signToken } from '../../../server/resources/api-key-pairs/token.ts';
import { createCaller, type Caller } from '../../support/call.ts';
import { newDataDir } from '../../support/data-dir.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startLossyDatabase } from '../../support/lost-commit.ts';
import { startServer } from '../../support/processes.ts';
import { startTestService, testSecrets } from '../../support/service.ts';

const card = { method: 'card', number: '4242424242424242', expiration_date: '12/39', security_code: '737' };

const store = async (call: Caller, token: string, key: string) => {
  const answer = await call('POST', '/payment-methods', {
    token,
    body: card,
    headers: { 'Idempotency-Key': key },
  });
  return { ...answer, replayed: answer.headers.get('idempotency-replayed') };
};

async function countCards(databaseUrl: string): Promise<number> {
  const opened = await openReadyDatabase({
    databaseUrl,
    environment: 'sandbox',
    dataDir: '/nowhere',
    log: () => undefined,
    size: 1,
  });
  try {
    const { rows } = await sql<{ total: number }>`select count(*) as total from payment_methods`.execute(
      opened.db,
    );
    return rows[0]?.total ?? 0;
  } finally {
    await opened.close();
  }
}

describe('two instances', () => {
  it('carry out one of two equal requests that arrive at once; the other waits, and gets the same answer', async () => {
    await using dataDir = await newDataDir();
    const config = {
      dataDir: dataDir.path,
      databaseUrl: await createTestDatabase(),
      secrets: testSecrets(),
      webhookWorker: false,
    };
    let calls = 0;
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const providers = {
      verifyCard: async (...given: Parameters<typeof verifySimulatedCard>) => {
        calls += 1;
        begin();
        await held;
        return verifySimulatedCard(...given);
      },
    };
    await using one = await startTestService({ config, providers });
    await using two = await startTestService({ config, providers });
    const before = await countCards(config.databaseUrl);
    const token = one.token('*.write');
    const key = randomUUID();
    const first = store(one.call, token, key);
    await begun;
    const others = [store(two.call, token, key), store(two.call, token, key), store(one.call, token, key)];
    // The claim of the first is known to the other instance, which need not wait to refuse another body.
    const clash = await two.call('POST', '/payment-methods', {
      token,
      body: { ...card, expiration_date: '11/39' },
      headers: { 'Idempotency-Key': key },
    });
    expect(clash.status).toBe(422);
    release();
    const answers = await Promise.all([first, ...others]);
    expect(answers.map(({ status, replayed }) => [status, replayed])).toEqual([
      [201, 'false'],
      [201, 'true'],
      [201, 'true'],
      [201, 'true'],
    ]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect([calls, await countCards(config.databaseUrl)]).toEqual([1, before + 1]);
  });
});

describe('a commit whose confirmation is lost', () => {
  it('returns 500 although the card is stored; the repeated request gets the card, and no second one', async () => {
    const databaseUrl = await createTestDatabase('furnished');
    await using lossy = await startLossyDatabase(databaseUrl);
    const secrets = testSecrets();
    await using service = await startTestService({
      config: { databaseUrl: lossy.url, secrets, webhookWorker: false },
      firstStart: true,
    });
    const pair = await service.pair();
    const token = pair.token('*.write');
    const before = await countCards(databaseUrl);
    const key = randomUUID();
    const committed = lossy.loseCommitOf('insert into "payment_methods"');
    const failing = store(service.call, token, key);
    const { cut } = await committed;
    cut();
    const failed = await failing;
    expect([failed.status, failed.replayed]).toEqual([500, 'false']);
    expect(await countCards(databaseUrl)).toBe(before + 1);

    const repeated = await store(service.call, token, key);
    expect([repeated.status, repeated.replayed]).toEqual([201, 'true']);
    expect(await countCards(databaseUrl)).toBe(before + 1);
  });
});

describe('a service that is killed between commit and answer', () => {
  it('answers the repeated request with the card, at once after the restart', async () => {
    await using dataDir = await newDataDir();
    const databaseUrl = await createTestDatabase();
    await using lossy = await startLossyDatabase(databaseUrl);
    const env = { DATA_DIR: dataDir.path, LOG_LEVEL: 'info' };
    await using first = await startServer({ ...env, DATABASE_URL: lossy.url });
    const pem = await readFile(join(dataDir.path, 'sandbox-key.pem'));
    const token = signToken(createPrivateKey(pem), ['*.write'], 3600);
    const before = await countCards(databaseUrl);
    const key = randomUUID();
    const committed = lossy.loseCommitOf('insert into "payment_methods"');
    const lost = expect(store(createCaller(first.url), token, key)).rejects.toThrow('fetch failed');
    await committed;
    await first.kill();
    await lost;

    await using second = await startServer({ ...env, DATABASE_URL: databaseUrl });
    const repeated = await store(createCaller(second.url), token, key);
    expect([repeated.status, repeated.replayed]).toEqual([201, 'true']);
    expect(await countCards(databaseUrl)).toBe(before + 1);
  }, 120_000);
});
