// How often a request waits for PostgreSQL: counted by a proxy that reads the protocol.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { passesLuhn } from '../../server/rules/card-numbers.ts';
import { createTestDatabase } from '../support/database.ts';
import { startLossyDatabase } from '../support/lost-commit.ts';
import { startTestService } from '../support/service.ts';
import { subscribe } from '../support/webhooks.ts';

it('a page is one round trip, a stored card with its event and a delivery five, and seven with a key', async () => {
  await using counter = await startLossyDatabase(await createTestDatabase('furnished'));
  await using service = await startTestService({
    config: { databaseUrl: counter.url, webhookWorker: false },
  });
  await subscribe(service, 'http://127.0.0.1:9/');
  const token = service.token('*.read', '*.write');
  let last = 0;
  const store = (keyed: boolean) => {
    last += 1;
    const digits = `4000${String(last).padStart(4, '0')}0000${String(last).padStart(3, '0')}`;
    const number = Array.from({ length: 10 }, (_, check) => `${digits}${check}`).find(passesLuhn);
    const body = { method: 'card', number, expiration_date: '12/39' };
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
  expect(await tripsOf(() => store(false), 201)).toBe(5);
  expect(await tripsOf(() => store(true), 201)).toBe(7);
  expect(await tripsOf(() => service.call('GET', '/transactions?limit=20', { token }), 200)).toBe(1);
});
