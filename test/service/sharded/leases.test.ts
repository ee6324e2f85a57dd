// The queue of webhooks: which deliveries a worker may lease, and what becomes of a lease.
import { randomInt, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { inTransaction, type Tx } from '../../../server/kit/database/database.ts';
import { recordAttempts, type Attempt } from '../../../server/kit/events/attempts.ts';
import {
  countQueue,
  endLeases,
  findNext,
  leaseDeliveries,
  type LeasedDelivery,
  type LeaseLimits,
} from '../../../server/kit/events/deliveries.ts';
import { reopenDeliveries } from '../../../server/kit/events/delivery-list.ts';
import { sendOptions } from '../../../server/kit/events/send.ts';
import { switchSubscription } from '../../../server/kit/events/subscriptions/changes.ts';
import type { DatabaseTime } from '../../../server/kit/rules/database-time.ts';
import { openTestDatabase } from '../../support/database.ts';
import { silentWork } from '../../support/records.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { causeDeliveries, subscribe } from '../../support/webhooks.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ config: { webhookWorker: false } });
});
afterAll(() => service[Symbol.asyncDispose]());
beforeEach(async () => {
  for (const table of ['delivery_attempts', 'deliveries', 'events', 'webhook_subscriptions'])
    await sql`delete from ${sql.table(table)}`.execute(db());
});

const db = () => service.service.database.background.db;
const url = 'http://127.0.0.1:9/';
const limits = { perSubscription: 4, perAccount: 100, held: new Map<string, number>(), most: 1000 };
const { isCitus } = inject('cluster');
const [one, two] = [randomUUID(), randomUUID()];

const leaseIn = (tx: Tx, worker: string, more: Partial<LeaseLimits> = {}) =>
  leaseDeliveries(tx, { ...limits, worker, ...more });
const lease = (worker: string, more?: Partial<LeaseLimits>) =>
  inTransaction(db(), (tx) => leaseIn(tx, worker, more));
const lapse = () => sql`update deliveries set due_at = now() where leased_by is not null`.execute(db());
const record = (worker: string, made: readonly Attempt[]) =>
  inTransaction(db(), (tx, now) => recordAttempts(tx, now, worker, made));
const attempted = (
  delivery: LeasedDelivery,
  status: 204 | 410 | 500 = 204,
  { at = new Date(), wait }: { at?: Date; wait?: number } = {},
): Attempt => ({
  ...{
    delivery,
    at: at as DatabaseTime,
    status,
    wait,
    milliseconds: 1,
    error: null,
    answer: null,
    traceId: undefined,
  },
  state: status === 204 ? 'succeeded' : wait === undefined ? 'failed' : 'pending',
});
const deliveries = async () => {
  const { rows } = await sql<{ id: string; state: string; attempts: number; wait: number; leased: boolean }>`
    select id, state, attempts, extract(epoch from due_at - now())::float8 as wait, leased_by is not null as leased
    from deliveries order by id`.execute(db());
  return rows;
};

describe('the limit of a subscription', () => {
  // Citus waits for the lock of a subscription instead of passing it by.
  it.skipIf(isCitus)(
    'holds for two workers, although the second claims before the first has committed',
    async () => {
      await causeDeliveries(service, await subscribe(service, url), 20);
      let claimed: (leased: number) => void = () => undefined;
      const first = new Promise<number>((resolve) => (claimed = resolve));
      let commit: () => void = () => undefined;
      const committing = new Promise<void>((resolve) => (commit = resolve));
      const claim = inTransaction(db(), async (tx) => {
        claimed((await leaseIn(tx, one)).length);
        await committing;
      });
      expect(await first).toBe(4);
      expect(await lease(two)).toEqual([]);
      commit();
      await claim;
      expect(await lease(two)).toEqual([]);
    },
  );

  it('holds for ten workers that claim all the time, and each delivery is leased once', async () => {
    await causeDeliveries(service, await subscribe(service, url), 60);
    const got: string[] = [];
    let most = 0;
    const work = async (): Promise<void> => {
      const worker = randomUUID();
      while (got.length < 60) {
        const leased = await lease(worker);
        got.push(...leased.map(({ id }) => id));
        const { rows } = await sql<{ held: number }>`
          select count(*) as held from deliveries where leased_by is not null`.execute(db());
        most = Math.max(most, rows[0]?.held ?? 0);
        await record(
          worker,
          leased.map((delivery) => attempted(delivery)),
        );
      }
    };
    await Promise.all(Array.from({ length: 10 }, work));
    expect(new Set(got).size).toBe(60);
    expect(got).toHaveLength(60);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(4);
  });

  it('is one while it fails, and four again after a success', async () => {
    await causeDeliveries(service, await subscribe(service, url), 20);
    const leased = await lease(one);
    const failed = { wait: 3600 };
    await record(
      one,
      leased.map((delivery) => attempted(delivery, 500, failed)),
    );
    const [next, ...none] = await lease(one);
    expect(none).toEqual([]);
    await record(one, next ? [attempted(next)] : []);
    expect(await lease(one)).toHaveLength(4);
  });
});

it('a subscription that fails has its due retries first, then first attempts, oldest first', async () => {
  await causeDeliveries(service, await subscribe(service, url), 6);
  const retried: string[] = [];
  for (let failures = 0; failures < 2; failures += 1) {
    const [delivery] = await lease(one, { perSubscription: 1 });
    if (delivery) await record(one, [attempted(delivery, 500, { wait: 0 })]);
    retried.push(delivery?.id ?? '');
    // It is due later than the first attempts that wait.
    await sql`update deliveries set due_at = now() - interval '1 second' where attempts > 0`.execute(db());
    await sql`update deliveries set due_at = now() - interval '1 hour' where attempts = 0`.execute(db());
  }
  expect(retried[1]).toBe(retried[0]);
  const [again] = await lease(one);
  expect(again?.id).toBe(retried[0]);
  // While that is under way there is no room; afterwards it waits, and a first attempt goes out.
  expect(await lease(one)).toEqual([]);
  await record(one, again ? [attempted(again, 500, { wait: 3600 })] : []);
  const [first, ...others] = await lease(one);
  expect([first?.attempts, others]).toEqual([0, []]);
});

describe('the limits of a worker', () => {
  it('leave an account no more than it may hold, and the others theirs', async () => {
    for (let made = 0; made < 5; made += 1) await causeDeliveries(service, await subscribe(service, url), 4);
    const other = await subscribe(service, url, { account: 'marketplace' });
    await causeDeliveries(service, other, 3, 'marketplace');
    const leased = await lease(one, { perAccount: 10, held: new Map([['default', 4]]) });
    const of = (account: string) => leased.filter((delivery) => delivery.merchant_account_id === account);
    expect([of('default').length, of('marketplace').length]).toEqual([6, 3]);
  });

  it('let a subscription for all accounts have what is due of another account', async () => {
    const all = await subscribe(service, url, { account: '*' });
    await causeDeliveries(service, all, 10);
    await causeDeliveries(service, all, 1, 'marketplace');
    const leased = await lease(one, { perAccount: 10, held: new Map([['default', 10]]) });
    expect(leased.map((delivery) => delivery.merchant_account_id)).toEqual(['marketplace']);
  });

  it('give each of a thousand subscriptions its turn', async () => {
    const { rows } = await sql<{ id: string }>`
      insert into webhook_subscriptions (active, url, secret_sealed)
      select true, ${url}, '' from generate_series(1, 1000) returning id`.execute(db());
    for (const { id } of rows.slice(0, 3)) await causeDeliveries(service, { id, secret: '' }, 300);
    await sql`
      insert into deliveries (merchant_account_id, event_id, subscription_id)
      select 'default', (select id from events limit 1), id from webhook_subscriptions`.execute(db());
    const served = new Set<string>();
    for (let round = 0; round < 100 && served.size < 1000; round += 1) {
      const leased = await lease(one, { most: 200, perAccount: 1000 });
      for (const { subscription_id } of leased) served.add(subscription_id);
      await record(
        one,
        leased.map((delivery) => attempted(delivery)),
      );
    }
    expect(served.size).toBe(1000);
  });

  it('lease for the account that holds least, if there is little room', async () => {
    for (let made = 0; made < 3; made += 1) await causeDeliveries(service, await subscribe(service, url), 4);
    const other = await subscribe(service, url, { account: 'marketplace' });
    await causeDeliveries(service, other, 1, 'marketplace');
    const leased = await lease(one, { most: 1, held: new Map([['default', 5]]) });
    expect(leased.map((delivery) => delivery.merchant_account_id)).toEqual(['marketplace']);
  });

  it('lease the oldest first', async () => {
    await causeDeliveries(service, await subscribe(service, url), 20);
    for (const { id } of await deliveries())
      await sql`
        update deliveries set due_at = ${new Date(Date.now() - randomInt(3_600_000))}
        where merchant_account_id = 'default' and id = ${id}`.execute(db());
    const { rows } = await sql<{ id: string }>`select id from deliveries order by due_at limit 4`.execute(
      db(),
    );
    const leased = (await lease(one)).map(({ id }) => id);
    expect(leased.sort()).toEqual(rows.map(({ id }) => id).sort());
  });
});

describe('a lease', () => {
  it('that lapses gives the delivery to another worker, and the first one records nothing', async () => {
    await causeDeliveries(service, await subscribe(service, url), 1);
    const [mine] = await lease(one);
    expect(await lease(two)).toEqual([]);
    await lapse();
    const [yours] = await lease(two);
    expect(yours?.id).toBe(mine?.id);
    await record(one, mine ? [attempted(mine, 500)] : []);
    expect(await deliveries()).toMatchObject([{ state: 'pending', attempts: 0, leased: true }]);
    await record(two, yours ? [attempted(yours)] : []);
    expect(await deliveries()).toMatchObject([{ state: 'succeeded', attempts: 1, leased: false }]);
  });

  it('lasts for seconds longer than an attempt may take', async () => {
    await causeDeliveries(service, await subscribe(service, url), 1);
    // Counted from before the lease, so that a slow machine makes no difference.
    const { rows: before } = await sql<{ now: string }>`select clock_timestamp()::text as now`.execute(db());
    await lease(one);
    const { rows } = await sql<{ seconds: number }>`
      select extract(epoch from due_at - ${before[0]?.now}::timestamptz)::float8 as seconds from deliveries`.execute(
      db(),
    );
    const attempt = sendOptions({ environment: 'sandbox' }).milliseconds / 1000;
    expect(rows[0]?.seconds).toBeGreaterThan(attempt + 5);
  });

  it('ends when its worker stops, and the delivery is due at once', async () => {
    await causeDeliveries(service, await subscribe(service, url), 2);
    await lease(one);
    await endLeases(db(), two);
    expect(await lease(two)).toEqual([]);
    await endLeases(db(), one);
    expect(await lease(two)).toHaveLength(2);
  });

  it.each([0, 1])(
    'keeps a delivery that is replayed meanwhile from being sent twice at once; then it is due again (after %i)',
    async (before) => {
      await causeDeliveries(service, await subscribe(service, url), 1);
      for (let made = 0; made < before; made += 1) {
        const [first] = await lease(one);
        await record(one, first ? [attempted(first, 500, { wait: 0 })] : []);
      }
      const [second] = await lease(one);
      await inTransaction(db(), (tx) => reopenDeliveries(tx, { eventId: second?.event_id }));
      expect(await lease(two)).toEqual([]);
      // Not after the wait that a failed attempt has.
      await record(one, second ? [attempted(second, 500, { wait: 3600 })] : []);
      const attempts = before + 1;
      expect(await deliveries()).toMatchObject([{ state: 'pending', attempts }]);
      expect(await lease(two)).toMatchObject([{ attempts, attempts_before: attempts }]);
    },
  );

  it('of a delivery that was deleted during its attempt ends, and the others are recorded', async () => {
    await causeDeliveries(service, await subscribe(service, url), 3);
    const leased = await lease(one);
    await sql`delete from deliveries where id = ${leased[1]?.id}`.execute(db());
    await record(
      one,
      leased.map((delivery) => attempted(delivery)),
    );
    expect((await deliveries()).map(({ state }) => state)).toEqual(['succeeded', 'succeeded']);
    const { rows } = await sql`select from delivery_attempts`.execute(db());
    expect(rows).toHaveLength(2);
  });
});

describe('a delivery that somebody has locked', () => {
  /** Runs `work` while a row of another transaction is locked. */
  const whileLocked = async <T>(id: string | undefined, work: () => Promise<T>): Promise<T> => {
    let unlock: () => void = () => undefined;
    const unlocked = new Promise<void>((resolve) => (unlock = resolve));
    let holding: Promise<void> = Promise.resolve();
    await new Promise<void>((locked) => {
      holding = inTransaction(db(), async (tx) => {
        await sql`select from deliveries where merchant_account_id = 'default' and id = ${id} for update`.execute(
          tx,
        );
        locked();
        await unlocked;
      });
    });
    try {
      return await work();
    } finally {
      unlock();
      await holding;
    }
  };

  it('is passed by when others are leased', async () => {
    await causeDeliveries(service, await subscribe(service, url), 3);
    const [first] = await deliveries();
    expect(await whileLocked(first?.id, () => lease(one))).toHaveLength(2);
    expect((await lease(one)).map(({ id }) => id)).toEqual([first?.id]);
  });

  it('is not recorded, and the others are', async () => {
    await causeDeliveries(service, await subscribe(service, url), 3);
    const leased = await lease(one);
    const made = leased.map((delivery) => attempted(delivery));
    const { locked, lost } = await whileLocked(leased[0]?.id, () => record(one, made));
    expect([locked, lost]).toEqual([[made[0]], []]);
    expect((await record(one, locked)).recorded).toEqual(locked);
    expect((await deliveries()).map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });
});

it('a worker is told whether a delivery is due soon; those of a deleted subscription are not', async () => {
  await causeDeliveries(service, await subscribe(service, url), 2);
  const asCitus = openTestDatabase(service.config.databaseUrl ?? '', { isCitus: true });
  const next = () => Promise.all([findNext(db()), findNext(asCitus.db)]);
  await sql`update deliveries set due_at = now() + interval '1 hour'`.execute(db());
  const [later, unknown] = await next();
  expect(later ?? Infinity).toBeGreaterThan(3_500);
  // Where it would have to read all that wait.
  expect(unknown).toBeUndefined();
  await sql`update deliveries set due_at = now()`.execute(db());
  for (const seconds of await next()) expect(seconds).toBeLessThanOrEqual(0);
  await sql`delete from webhook_subscriptions`.execute(db());
  expect(await next()).toEqual([undefined, undefined]);
  await asCitus.close();
  expect(await lease(one)).toEqual([]);
});

it('a failure that comes after a success counts from then on, one that came before is forgotten', async () => {
  await causeDeliveries(service, await subscribe(service, url), 20);
  const failing = async () => {
    const { rows } = await sql<{ failing: string | null }>`
      select case when failing_since > now() - interval '1 day' then 'today' else failing_since::text end as failing
      from webhook_subscriptions`.execute(db());
    return rows[0]?.failing;
  };
  const [a, b, c, d] = (await lease(one)) as [LeasedDelivery, LeasedDelivery, LeasedDelivery, LeasedDelivery];
  await sql`update webhook_subscriptions set failing_since = now() - interval '4 days'`.execute(db());
  await record(one, [attempted(a, 500), attempted(b, 204), attempted(c, 500), attempted(d, 500)]);
  expect(await failing()).toBe('today');
  const [e] = await lease(one);
  await record(one, e ? [attempted(e, 204)] : []);
  expect(await failing()).toBeNull();
  const between = [500, 204, 500, 204] as const;
  const more = await lease(one);
  await record(
    one,
    between.flatMap((status, index) => (more[index] ? [attempted(more[index], status)] : [])),
  );
  expect(await failing()).toBeNull();
});

it('the five days until a switch-off are counted by the clock of the database, not by that of a worker', async () => {
  const day = 86_400_000;
  const switchedOff = async (failing: string, clockDays: number) => {
    await causeDeliveries(service, await subscribe(service, url), 1);
    await sql`update webhook_subscriptions set failing_since = now() - ${failing}::interval`.execute(db());
    const at = new Date(Date.now() + clockDays * day);
    const leased = await lease(one);
    const { switchedOff: off } = await record(
      one,
      leased.map((delivery) => attempted(delivery, 500, { at })),
    );
    await sql`delete from webhook_subscriptions`.execute(db());
    return off.length > 0;
  };
  expect(await switchedOff('4 days 23:59', 10)).toBe(false);
  expect(await switchedOff('5 days', -10)).toBe(true);
});

it('a subscription that is switched on again has five days anew, and not one attempt', async () => {
  const subscription = await subscribe(service, url);
  await sql`
    update webhook_subscriptions set active = false, failing_since = now() - interval '6 days'`.execute(db());
  await silentWork(db(), (unit) => switchSubscription(unit, subscription.id, true));
  await causeDeliveries(service, subscription, 1);
  const leased = await lease(one);
  const made = leased.map((delivery) => attempted(delivery, 500, { wait: 5 }));
  expect(made).toHaveLength(1);
  expect((await record(one, made)).switchedOff).toEqual([]);
});

it('a 410 switches its subscription off, also if another attempt failed before it', async () => {
  const subscription = await subscribe(service, url);
  await causeDeliveries(service, subscription, 3);
  const [a, b, c] = (await lease(one)) as [LeasedDelivery, LeasedDelivery, LeasedDelivery];
  const made = [attempted(a, 500, { wait: 5 }), attempted(b, 410), attempted(c, 500, { wait: 5 })];
  expect((await record(one, made)).switchedOff).toEqual([subscription.id]);
});

it('what is due is counted apart from what is tried later', async () => {
  await causeDeliveries(service, await subscribe(service, url), 3);
  const [{ id } = { id: '' }] = await deliveries();
  await sql`
    update deliveries set due_at = now() + interval '1 hour'
    where merchant_account_id = 'default' and id = ${id}`.execute(db());
  expect(await countQueue(db())).toEqual({ due: 2, later: 1 });
});
