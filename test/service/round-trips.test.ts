// How often a request waits for PostgreSQL: counted by a proxy that reads the protocol.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { passesLuhn } from '../../server/kit/rules/card-numbers.ts';
import { buyers } from '../../server/sandbox/sample-records.ts';
import { createTestDatabase } from '../support/database.ts';
import { startLossyDatabase } from '../support/lost-commit.ts';
import { startTestService } from '../support/service.ts';
import { subscribe } from '../support/webhooks.ts';

it.each([
  { cardsPerMinute: 'off', plain: 5, withKey: 7, withKeyAndBuyer: 8 },
  // As production sends it.
  { cardsPerMinute: 10_000, plain: 6, withKey: 8, withKeyAndBuyer: 9 },
] as const)('round trips of a card with its event and a delivery: %o; a page is one', async (expected) => {
  const { cardsPerMinute } = expected;
  await using counter = await startLossyDatabase(await createTestDatabase('furnished'));
  await using service = await startTestService({
    config: { databaseUrl: counter.url, webhookWorker: false, cardsPerMinute },
  });
  await subscribe(service, 'http://127.0.0.1:9/');
  const token = service.token('*.read', '*.write');
  let last = 0;
  const store = (keyed: boolean, more: object = {}) => {
    last += 1;
    const digits = `4000${String(last).padStart(4, '0')}0000${String(last).padStart(3, '0')}`;
    const number = Array.from({ length: 10 }, (_, check) => `${digits}${check}`).find(passesLuhn);
    const body = { method: 'card', number, expiration_date: '12/39', ...more };
    const headers = keyed ? { 'Idempotency-Key': randomUUID() } : {};
    return service.call('POST', '/payment-methods', { token, body, headers });
  };
  /** The least of several calls: the first ones find the key pair and name statements, and the daily jobs run beside some. */
  const tripsOf = async (call: () => Promise<{ status: number }>, status: number) => {
    const trips: number[] = [];
    for (let calls = 0; calls < 8; calls += 1) {
      const before = counter.trips();
      expect((await call()).status).toBe(status);
      trips.push(counter.trips() - before);
    }
    return Math.min(...trips);
  };
  const buyer = { buyer_id: buyers[0]?.id };
  expect({
    cardsPerMinute,
    plain: await tripsOf(() => store(false), 201),
    withKey: await tripsOf(() => store(true), 201),
    withKeyAndBuyer: await tripsOf(() => store(true, buyer), 201),
  }).toEqual(expected);
  expect(await tripsOf(() => service.call('GET', '/transactions?limit=20', { token }), 200)).toBe(1);
});
