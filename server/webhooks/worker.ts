// Fetches deliveries from the queue and sends them concurrently, with a limit per subscription, so that a slow or failing
// receiver does not delay the others. Any number of workers may run on one database.
import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { isDoneWithin } from '../domain/deadline.ts';
import { findDeliveries, type DueDelivery } from '../store/events.ts';
import { deliver, type DeliverDeps } from './deliver.ts';
import { inTransaction } from '../store/database.ts';
import { createAccountSlots, type AccountLimits } from './account-slots.ts';
import { createLimit } from './limit.ts';
import {
  createSubscriptionSlots,
  failingSeconds,
  noteEnd,
  type Slots,
  type SubscriptionLimits,
} from './subscription-slots.ts';
import type { Job } from './queue.ts';
import { createSend } from './send.ts';

export interface WorkerLimits extends SubscriptionLimits, AccountLimits {
  /** Deliveries that this worker holds, running or waiting for a slot of their subscription or account. */
  held: number;
  /** Concurrent database transactions. Few, because requests use the same pool. */
  transactions: number;
  batch: number;
  pollMilliseconds: number;
  heartbeatMilliseconds: number;
  /** Time that `stop` gives running attempts. Then they are cancelled, and the next worker retries them. */
  stopMilliseconds: number;
  /** Time that `stop` then gives the database. */
  releaseMilliseconds: number;
}

export const defaultLimits: WorkerLimits = {
  held: 2000,
  heldPerAccount: 400,
  perAccount: 100,
  heldPerSubscription: 50,
  heldAtFirst: 8,
  perSubscription: 4,
  transactions: 4,
  batch: 100,
  pollMilliseconds: 250,
  heartbeatMilliseconds: 5_000,
  stopMilliseconds: 3_000,
  releaseMilliseconds: 5_000,
};

export interface Worker {
  /** Fetches nothing more, and gives running attempts a few seconds to finish. Ends within 8 s, whatever is under way. */
  stop: () => Promise<void>;
}

export function startWorker(deps: DeliverDeps, limits: WorkerLimits = defaultLimits): Worker {
  const { queue, db, log } = deps;
  const stopping = new AbortController();
  const cancellation = new AbortController();
  // Every running attempt adds a listener; `limits` bounds their number.
  setMaxListeners(0, cancellation.signal);
  const subscriptions = createSubscriptionSlots(limits);
  const accounts = createAccountSlots(limits);
  const running = new Map<string, Promise<void>>();
  const transactionLimit = createLimit(limits.transactions);
  const send = createSend(deps.options);

  const attempt = async (job: Job, delivery: DueDelivery, slots: Slots): Promise<void> => {
    // It may have waited for its turn.
    if (stopping.signal.aborted) return queue.release(job.id);
    const context = { ...deps, send, limit: transactionLimit, signal: cancellation.signal };
    noteEnd(slots, await deliver(job, delivery, context));
  };

  const runInSlot = async (job: Job, delivery: DueDelivery, slots: Slots): Promise<void> => {
    if (stopping.signal.aborted) return queue.release(job.id);
    if (slots.failing && slots.active > 0) return postpone([job], failingSeconds);
    slots.active += 1;
    try {
      await accounts.attempt(delivery.merchant_account_id, () => attempt(job, delivery, slots));
    } finally {
      slots.active -= 1;
    }
  };

  const hold = (job: Job, delivery: DueDelivery): Promise<void> =>
    accounts.hold(delivery.merchant_account_id, () =>
      subscriptions.run(delivery.subscription_id, (slots) => runInSlot(job, delivery, slots)),
    );

  const handle = async (job: Job, delivery: DueDelivery | undefined): Promise<void> => {
    try {
      if (delivery) await hold(job, delivery);
      else await transactionLimit(() => queue.complete(db, [job.id]));
    } catch (error) {
      if (!cancellation.signal.aborted)
        log.error({ err: error, delivery: job.deliveryId }, 'a webhook delivery could not be handled');
      // This fails too while the database is down; without a heartbeat the lease then expires.
      await queue.release(job.id).catch(() => undefined);
    } finally {
      running.delete(job.id);
    }
  };

  const postpone = (jobs: readonly Job[], afterSeconds: number): Promise<void> =>
    transactionLimit(() =>
      inTransaction(db, async (transaction) => {
        await queue.add(transaction, jobs, { afterSeconds, postponed: true });
        await queue.complete(
          transaction,
          jobs.map(({ id }) => id),
        );
      }),
    );

  /** Returns how many jobs were fetched. */
  const fetchBatch = async (): Promise<number> => {
    const capacity = limits.held - running.size;
    const jobs = capacity > 0 ? await queue.fetch(Math.min(capacity, limits.batch)) : [];
    if (jobs.length === 0) return 0;
    const ids = jobs.map(({ deliveryId }) => deliveryId);
    const byId = new Map((await findDeliveries(db, ids)).map((delivery) => [delivery.id, delivery]));
    const postponed = new Map<number, Job[]>();
    for (const job of jobs) {
      const delivery = byId.get(job.deliveryId);
      const seconds =
        delivery &&
        (subscriptions.postponeFor(delivery) ?? accounts.postponeFor(delivery.merchant_account_id));
      if (seconds === undefined) running.set(job.id, handle(job, delivery));
      else postponed.set(seconds, [...(postponed.get(seconds) ?? []), job]);
    }
    for (const [seconds, some] of postponed) await postpone(some, seconds);
    return jobs.length;
  };

  const poll = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      if ((await fetchBatch()) > 0) continue;
      await wait(limits.pollMilliseconds, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };

  const pollWithRetry = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await poll().catch(async (error: unknown) => {
        log.warn(
          { reason: error instanceof Error ? error.message : String(error) },
          'the webhook queue cannot be read; trying again',
        );
        await wait(1_000, undefined, { signal: stopping.signal }).catch(() => undefined);
      });
    }
  };

  // A heartbeat that fails needs no log line: the next fetch fails too, and logs.
  const heartbeat = setInterval(() => {
    if (running.size > 0) queue.heartbeat([...running.keys()]).catch(() => undefined);
  }, limits.heartbeatMilliseconds);
  const polling = pollWithRetry();
  return {
    async stop() {
      stopping.abort();
      const ended = polling.then(() => Promise.all(running.values()));
      await isDoneWithin(limits.stopMilliseconds, ended);
      cancellation.abort();
      // Nothing extends the leases any more: a job that cannot be released now is delivered when its lease ends.
      clearInterval(heartbeat);
      await isDoneWithin(limits.releaseMilliseconds, ended);
    },
  };
}
