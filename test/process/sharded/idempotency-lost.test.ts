// Idempotency-Key when a service is killed between commit and answer.
import { createPrivateKey, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { signToken } from '../../../server/kit/access/token.ts';
import { createCaller } from '../../support/call.ts';
import { newDataDir } from '../../support/data-dir.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startLossyDatabase } from '../../support/lost-commit.ts';
import { startServer } from '../../support/processes.ts';
import { countCards, store } from '../../support/stored-card.ts';

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
    const committed = lossy.loseCommitOf('insert into payment_methods');
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
