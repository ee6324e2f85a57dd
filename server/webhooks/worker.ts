// Fetches deliveries from the queue and sends them concurrently, with a limit per subscription, so that a slow or failing
// receiver does not delay the others. Any number of workers may run on one database.
import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { findDeliveries, type DueDelivery } from '../store/events.ts';
import { deliver, type DeliverDeps } from './deliver.ts';
import { inTransaction } from '../store/database.ts';
import { createLimit } from './limit.ts';
import { createSubscriptionSlots, type Slots, type SubscriptionLimits } from './subscription-slots.ts';
import type { Job } from './queue.ts';

export interface WorkerLimits extends SubscriptionLimits {
  /** Deliveries that this worker holds, running or waiting for a slot of their subscription. */
  held: number;
  /** Concurrent database transactions. Few, because requests use the same pool. */
  transactions: number;
  batch: number;
  pollMilliseconds: number;
  heartbeatMilliseconds: number;
  /** Time that `stop` gives running attempts. Then they are cancelled, and the next worker retries them. */
  stopMilliseconds: number;
}

export const defaultLimits: WorkerLimits = {
  held: 2000,
  heldPerSubscription: 50,
  perSubscription: 4,
  transactions: 4,
  batch: 100,
  pollMilliseconds: 250,
  heartbeatMilliseconds: 5_000,
  stopMilliseconds: 3_000,
};

// How long a delivery is postponed when its subscription has no free slot.
const postponeSeconds = 0.3;
const postponeFailingSeconds = 10;

export interface Worker {
  /** Fetches nothing more, and gives running attempts a few seconds to finish. */
  stop: () => Promise<void>;
}

export function startWorker(deps: DeliverDeps, limits: WorkerLimits = defaultLimits): Worker {
  const { queue, db, log } = deps;
  const stopping = new AbortController();
  const cancellation = new AbortController();
  // Every running attempt adds a listener; `limits` bounds their number.
  setMaxListeners(0, cancellation.signal);
  const subscriptions = createSubscriptionSlots(limits);
  const running = new Map<string, Promise<void>>();
  const transactionLimit = createLimit(limits.transactions);

  const runInSlot = async (job: Job, delivery: DueDelivery, slots: Slots): Promise<void> => {
    if (stopping.signal.aborted) return queue.release(job.id);
    if (slots.failing && slots.active > 0) return postpone([job], postponeFailingSeconds);
    slots.active += 1;
    try {
      const context = { ...deps, limit: transactionLimit, signal: cancellation.signal };
      slots.failing = !(await deliver(job, delivery, context));
    } finally {
      slots.active -= 1;
    }
  };

  const handle = async (job: Job, delivery: DueDelivery | undefined): Promise<void> => {
    try {
      if (!delivery) await transactionLimit(() => queue.complete(db, [job.id]));
      else await subscriptions.run(delivery.subscription_id, (slots) => runInSlot(job, delivery, slots));
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
    const toBusy: Job[] = [];
    const toFailing: Job[] = [];
    for (const job of jobs) {
      const delivery = byId.get(job.deliveryId);
      if (delivery && subscriptions.isFull(delivery)) (delivery.failing_since ? toFailing : toBusy).push(job);
      else running.set(job.id, handle(job, delivery));
    }
    if (toBusy.length > 0) await postpone(toBusy, postponeSeconds);
    if (toFailing.length > 0) await postpone(toFailing, postponeFailingSeconds);
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
      await polling;
      const deadline = setTimeout(() => {
        cancellation.abort();
      }, limits.stopMilliseconds);
      await Promise.all(running.values());
      clearTimeout(deadline);
      clearInterval(heartbeat);
    },
  };
}
