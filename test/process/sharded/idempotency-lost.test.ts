// Idempotency-Key when a service is killed between commit and answer.
import { createPrivateKey, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { signToken } from '../../../server/resources/api-key-pairs/token.ts';
import { createCaller, type Caller } from '../../support/call.ts';
import { newDataDir } from '../../support/data-dir.ts';
import { createTestDatabase, query } from '../../support/database.ts';
import { startLossyDatabase } from '../../support/lost-commit.ts';
import { startServer } from '../../support/processes.ts';

const card = { method: 'card', number: '4242424242424242', expiration_date: '12/39', security_code: '737' };

const store = async (call: Caller, token: string, key: string) => {
  const answer = await call('POST', '/payment-methods', {
    token,
    body: card,
    headers: { 'Idempotency-Key': key },
  });
  return { ...answer, replayed: answer.headers.get('idempotency-replayed') };
};

const countCards = async (databaseUrl: string) =>
  Number((await query(databaseUrl, 'select count(*) as total from payment_methods'))[0]?.total);

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
  });
});
