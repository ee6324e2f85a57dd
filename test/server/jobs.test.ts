// The daily job, with a clock of the test's own.
import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { startJobs } from '../../server/jobs.ts';
import { openDatabase } from '../../server/store/database.ts';
import { noteReplacement } from '../../server/store/payment-method-moves.ts';
import { findPaymentMethod } from '../../server/store/payment-methods.ts';
import { cards } from '../../server/sandbox/people.ts';
import { startTestService } from '../support/service.ts';

const [{ id } = { id: '' }] = cards;
const details = { expiration_date: '12/44', number_sealed: 'sealed', fingerprint: 'another', label: '4444' };

it('applies waiting replacements of cards that have expired, at the start and then again and again', async () => {
  let now = new Date('2039-12-31T23:59:59Z');
  await using service = await startTestService({ now: () => now, jobMilliseconds: 50 });
  const { db } = service.service.database;
  await noteReplacement(db, id, () => details, now);
  const runs = () => service.logs.filter((line) => line.includes('"expired-cards"')).length;
  const before = runs();
  await vi.waitUntil(() => runs() > before + 2, { timeout: 10_000 });
  expect(await findPaymentMethod(db, id)).toMatchObject({ has_replacement: true, label: '1111' });

  now = new Date('2040-01-01T00:00:00Z');
  await vi.waitUntil(() => service.logs.some((line) => /"job":"expired-cards","done":1/.test(line)), { timeout: 10_000 });
  expect(await findPaymentMethod(db, id)).toMatchObject({
    has_replacement: false,
    replacement: null,
    label: '4444',
    expiration_date: '12/44',
    last_replaced_at: now,
  });

  // Another start does it at once.
  await noteReplacement(db, id, () => ({ ...details, fingerprint: 'a third', label: '5555' }), now);
  const { databaseUrl, secrets } = service.config;
  await service.service.close();
  now = new Date('2045-01-01T00:00:00Z');
  await using second = await startTestService({ now: () => now, config: { databaseUrl, secrets } });
  await vi.waitUntil(() => second.logs.some((line) => /"job":"expired-cards","done":1/.test(line)), { timeout: 10_000 });
  expect(await findPaymentMethod(second.service.database.db, id)).toMatchObject({ label: '5555' });
});

it('survives a database that is away, and says so', async () => {
  const away = openDatabase('postgres://nobody@127.0.0.1:1/none', () => undefined);
  const logs: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void logs.push(line) });
  const changed = () => Promise.resolve();
  const jobs = startJobs({ db: away.db, log, now: () => new Date(), changed, everyMilliseconds: 20 });
  await vi.waitUntil(() => logs.length >= 3, { timeout: 10_000 });
  await jobs.stop();
  await away.close();
  expect(logs.every((line) => line.includes('the daily job failed'))).toBe(true);
  const stopped = logs.length;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(logs).toHaveLength(stopped);
});
