// Deliveries do not wait for anything that they do not need: not for the next poll, and not for the record of another one.
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../server/kit/database/database.ts';
import { defaultLimits, startWorker, type Worker } from '../../server/kit/events/worker.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import {
  causeDeliveries,
  patient,
  storeCard,
  subscribe,
  until,
  type Subscription,
} from '../support/webhooks.ts';

const hour = 3_600_000;
/** After the first fetch, only what wakes the worker makes it fetch again. */
const neverPolls = { ...defaultLimits, pollMilliseconds: hour, busyMilliseconds: hour };
const { perSubscription } = defaultLimits;

it('an event is delivered without waiting for the next poll', async () => {
  await using service = await startTestService({ webhooks: { ...patient, limits: neverPolls } });
  await using receiver = await startReceiver();
  await subscribe(service, receiver.url);
  for (let stored = 1; stored <= 3; stored += 1) {
    await storeCard(service);
    await receiver.received(stored);
  }
});

describe('a worker', () => {
  let service: TestService;
  let worker: Worker | undefined;
  const background = () => service.service.database.background;
  const log = pino({ level: 'silent' });

  beforeEach(async () => {
    service = await startTestService({ config: { webhookWorker: false } });
  });
  afterEach(async () => {
    await worker?.stop();
    worker = undefined;
    await service[Symbol.asyncDispose]();
  });

  const start = (limits = neverPolls, { db } = background()) => {
    const { vault } = service.secrets;
    worker = startWorker({ ...patient, db, vault, log }, limits);
  };
  const cause = (subscription: Subscription, number: number) =>
    causeDeliveries(service, subscription, number);
  const states = async () => {
    const { rows } = await sql<{ state: string; attempts: number; number: number }>`
      select state, attempts, count(*)::integer as number from deliveries group by 1, 2 order by 1, 2`.execute(
      background().db,
    );
    return rows;
  };
  const succeeded = (number: number) =>
    until(async () => (await states()).some((one) => one.state === 'succeeded' && one.number === number));

  it('fetches the rest of a backlog as soon as there is room', async () => {
    await using receiver = await startReceiver();
    await cause(await subscribe(service, receiver.url), 150);
    start();
    await receiver.received(150);
    await succeeded(150);
    expect(await states()).toEqual([{ state: 'succeeded', attempts: 1, number: 150 }]);
    expect(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size).toBe(150);
  });

  it('ends the backlog of a subscription that is switched off, without an attempt to send it', async () => {
    await using receiver = await startReceiver();
    await cause(await subscribe(service, receiver.url), 100);
    await sql`update webhook_subscriptions set active = false, failing_since = now()`.execute(
      background().db,
    );
    start(defaultLimits);
    await until(async () => (await states()).some((one) => one.state === 'failed' && one.number === 100));
    expect(receiver.got).toEqual([]);
  });

  describe('that has nothing to do', () => {
    let own: Database;
    beforeEach(() => {
      own = openDatabase(service.config.databaseUrl ?? '', () => undefined, {
        size: 1,
        command: 'idle worker',
      });
      start({ ...defaultLimits, pollMilliseconds: 20 }, own);
    });
    afterEach(async () => {
      await worker?.stop();
      await own.close();
    });
    /** The last statement of the worker, after those that prepare the connection. */
    const last = async () => {
      const { rows } = await sql<{ at: string; query: string; state: string; isWaiting: boolean }>`
        select query_start::text as at, query, state, wait_event_type = 'Lock' as "isWaiting" from pg_stat_activity
        where application_name like '%idle worker' and datname = current_database() and query !~ '^(set |$)'
        `.execute(background().db);
      return rows[0];
    };

    it('asks with one statement, and no transaction', async () => {
      const asked = new Map<string, string>();
      await until(async () => {
        const found = await last();
        if (found) asked.set(found.at, found.query);
        return asked.size > 5;
      });
      expect([...new Set(asked.values())]).toEqual([expect.stringMatching(/^\s*with recursive waiting/)]);
    });

    it('rests for twice as long as a slow round took, even if it is woken', async () => {
      const client = await service.service.database.background.connect();
      await client.query('begin');
      await client.query('lock table deliveries in access exclusive mode');
      await until(async () => (await last())?.isWaiting);
      const slow = await last();
      const held = performance.now();
      await client.query('select pg_sleep(0.3)');
      await client.query('commit');
      const [released, milliseconds] = [performance.now(), performance.now() - held];
      client.release();
      // What comes while the round lasts is part of it.
      await until(async () => (await last())?.state === 'idle');
      await new Promise(setImmediate);
      while (performance.now() - released < milliseconds) {
        worker?.wake();
        const found = await last();
        if (performance.now() - released < milliseconds) expect(found?.at).toBe(slow?.at);
      }
      await until(async () => (await last())?.at !== slow?.at);
    });
  });

  it('records the others if one attempt cannot be stored, and repeats that one', async () => {
    const refused = 299;
    await sql`alter table delivery_attempts add constraint refused check (status <> 299)`.execute(
      background().db,
    );
    await using receiver = await startReceiver((res, _, nth) =>
      res.writeHead(nth === 1 ? refused : 204).end(),
    );
    await cause(await subscribe(service, receiver.url), perSubscription);
    start(defaultLimits);
    await succeeded(perSubscription - 1);
    // Its lease ends by itself.
    await sql`update deliveries set due_at = now() where leased_by is not null`.execute(background().db);
    await succeeded(perSubscription);
    expect(await states()).toEqual([{ state: 'succeeded', attempts: 1, number: perSubscription }]);
    expect(receiver.got).toHaveLength(perSubscription + 1);
  });
});
