// Takes deliveries from the queue and sends them, many at once, but of one subscription only a few, and of one that fails
// only one: a receiver that hangs or fails never delays the others. Any number of workers may run on one database.
import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { findDeliveries, type DueDelivery } from '../store/events.ts';
import { deliver, type DeliverDeps } from './deliver.ts';
import { inTransaction } from '../store/database.ts';
import { createLimit } from './limit.ts';
import { createLanes, type Lane, type LaneLimits } from './lanes.ts';
import type { Job } from './queue.ts';

export interface WorkerLimits extends LaneLimits {
  /** Deliveries held here, under way or waiting for their subscription's turn. */
  held: number;
  /** Connections used at once: the pool is for requests first. */
  records: number;
  batch: number;
  pollMilliseconds: number;
  /** How often the queue is told that we are still at work. */
  keepMilliseconds: number;
  /** How long attempts may still take when the worker is told to stop; longer ones are left to the next worker. */
  stopMilliseconds: number;
}

export const defaultLimits: WorkerLimits = {
  held: 2000,
  heldPerSubscription: 50,
  perSubscription: 4,
  records: 4,
  batch: 100,
  pollMilliseconds: 250,
  keepMilliseconds: 5_000,
  stopMilliseconds: 3_000,
};

// Seconds until a delivery is looked at again whose subscription had enough here already.
const postponeSeconds = 0.3;
const postponeFailingSeconds = 10;

export interface Worker {
  /** Takes nothing more, and waits a little for what is under way. */
  stop: () => Promise<void>;
}

export function startWorker(deps: DeliverDeps, limits: WorkerLimits = defaultLimits): Worker {
  const { queue, db, log } = deps;
  const ending = new AbortController();
  const cutting = new AbortController();
  // One for each attempt under way, and they are bounded by the limits.
  setMaxListeners(0, cutting.signal);
  const lanes = createLanes(limits);
  const underWay = new Map<string, Promise<void>>();
  const records = createLimit(limits.records);

  const runInLane = async (job: Job, delivery: DueDelivery, lane: Lane): Promise<void> => {
    if (ending.signal.aborted) return queue.giveBack(job.id);
    if (lane.failing && lane.active > 0) return postpone([job], postponeFailingSeconds);
    lane.active += 1;
    try {
      lane.failing = !(await deliver(job, delivery, { ...deps, limit: records, signal: cutting.signal }));
    } finally {
      lane.active -= 1;
    }
  };

  const handle = async (job: Job, delivery: DueDelivery | undefined): Promise<void> => {
    try {
      if (!delivery) await records(() => queue.complete(db, [job.id]));
      else await lanes.enter(delivery.subscription_id, (lane) => runInLane(job, delivery, lane));
    } catch (error) {
      if (!cutting.signal.aborted)
        log.error({ err: error, delivery: job.deliveryId }, 'a webhook delivery could not be handled');
      // If the database is away this fails too; the job then comes back by itself, as we speak of it no more.
      await queue.giveBack(job.id).catch(() => undefined);
    } finally {
      underWay.delete(job.id);
    }
  };

  const postpone = (jobs: readonly Job[], afterSeconds: number): Promise<void> =>
    records(() =>
      inTransaction(db, async (transaction) => {
        await queue.add(transaction, jobs, { afterSeconds, postponed: true });
        await queue.complete(
          transaction,
          jobs.map(({ id }) => id),
        );
      }),
    );

  const take = async (): Promise<number> => {
    const room = limits.held - underWay.size;
    const jobs = room > 0 ? await queue.fetch(Math.min(room, limits.batch)) : [];
    if (jobs.length === 0) return 0;
    const ids = jobs.map(({ deliveryId }) => deliveryId);
    const byId = new Map((await findDeliveries(db, ids)).map((delivery) => [delivery.id, delivery]));
    const later: Job[] = [];
    const muchLater: Job[] = [];
    for (const job of jobs) {
      const delivery = byId.get(job.deliveryId);
      if (delivery && lanes.isFull(delivery)) (delivery.failing_since ? muchLater : later).push(job);
      else underWay.set(job.id, handle(job, delivery));
    }
    if (later.length > 0) await postpone(later, postponeSeconds);
    if (muchLater.length > 0) await postpone(muchLater, postponeFailingSeconds);
    return jobs.length;
  };

  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      if ((await take()) > 0) continue;
      await wait(limits.pollMilliseconds, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  };

  const keepRunning = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await run().catch(async (error: unknown) => {
        log.warn(
          { reason: error instanceof Error ? error.message : String(error) },
          'the webhook queue cannot be read; trying again',
        );
        await wait(1_000, undefined, { signal: ending.signal }).catch(() => undefined);
      });
    }
  };

  // A failure shows at the next fetch.
  const keeping = setInterval(() => {
    if (underWay.size > 0) queue.keep([...underWay.keys()]).catch(() => undefined);
  }, limits.keepMilliseconds);
  const running = keepRunning();
  return {
    async stop() {
      ending.abort();
      await running;
      const cut = setTimeout(() => {
        cutting.abort();
      }, limits.stopMilliseconds);
      await Promise.all(underWay.values());
      clearTimeout(cut);
      clearInterval(keeping);
    },
  };
}
