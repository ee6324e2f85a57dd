// Idempotency-Key where it matters: two instances at once, and a confirmation that is lost between PostgreSQL and the service. A
// service that is killed between commit and answer is in test/process.
import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { verifySimulatedCard } from '../../../server/providers/simulated.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startLossyDatabase } from '../../support/lost-commit.ts';
import { startTestService } from '../../support/service.ts';
import { countCards, sentCard, store } from '../../support/stored-card.ts';

describe('two instances', () => {
  it('carry out one of two equal requests that arrive at once; the other waits, and gets the same answer', async () => {
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
    await using one = await startTestService({ config: { webhookWorker: false }, providers });
    const { databaseUrl = '' } = one.config;
    await using two = await startTestService({ config: one.config, providers });
    // The clock of the five seconds stands still: on a slow machine the refusal below would take longer.
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const before = await countCards(databaseUrl);
    const token = one.token('*.write');
    const key = randomUUID();
    const first = store(one.call, token, key);
    await begun;
    const others = [store(two.call, token, key), store(two.call, token, key), store(one.call, token, key)];
    // The claim of the first is known to the other instance, which need not wait to refuse another body.
    const clash = await two.call('POST', '/payment-methods', {
      token,
      body: { ...sentCard, expiration_date: '11/39' },
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
    expect([calls, await countCards(databaseUrl)]).toEqual([1, before + 1]);
  });
});

describe('a commit whose confirmation is lost', () => {
  it('returns 504 although the card is stored; the repeated request gets the card, and no second one', async () => {
    const databaseUrl = await createTestDatabase('furnished');
    await using lossy = await startLossyDatabase(databaseUrl);
    await using service = await startTestService({
      config: { databaseUrl: lossy.url, webhookWorker: false },
      firstStart: true,
    });
    const pair = await service.pair();
    const token = pair.token('*.write');
    const before = await countCards(databaseUrl);
    const key = randomUUID();
    const committed = lossy.loseCommitOf('insert into payment_methods');
    const failing = store(service.call, token, key);
    const { cut } = await committed;
    cut();
    const failed = await failing;
    expect([failed.status, failed.replayed]).toEqual([504, 'false']);
    expect(await countCards(databaseUrl)).toBe(before + 1);

    const repeated = await store(service.call, token, key);
    expect([repeated.status, repeated.replayed]).toEqual([201, 'true']);
    expect(await countCards(databaseUrl)).toBe(before + 1);
  });
});
