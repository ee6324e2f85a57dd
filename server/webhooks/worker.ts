// Takes deliveries from the queue and sends them, many at once, but of one subscription only a few: a receiver that hangs
// or fails never delays the others. Any number of workers may run on one database.
import { setTimeout as wait } from 'node:timers/promises';
import { createGate } from './gate.ts';
import { findDeliveries, type DueDelivery } from '../store/events.ts';
import { deliver, type DeliverDeps } from './deliver.ts';

export interface WorkerLimits {
  /** Attempts under way at once, of one subscription. */
  perSubscription: number;
  /** Deliveries held here, under way or waiting for their subscription's turn. */
  held: number;
  heldPerSubscription: number;
  pollMilliseconds: number;
  /** Connections used at once: the pool is for requests first. */
  records: number;
}

export const defaultLimits: WorkerLimits = {
  perSubscription: 4,
  held: 400,
  heldPerSubscription: 20,
  pollMilliseconds: 250,
  records: 4,
};

export interface Worker {
  /** Takes nothing more, and waits for what is under way. */
  stop: () => Promise<void>;
}

export function startWorker(deps: DeliverDeps, limits: WorkerLimits = defaultLimits): Worker {
  const { queue, db, log } = deps;
  const ending = new AbortController();
  const lanes = new Map<string, { active: number; waiting: (() => void)[] }>();
  const underWay = new Set<Promise<void>>();

  const inLane = async (subscription: string, work: () => Promise<void>): Promise<boolean> => {
    const lane = lanes.get(subscription) ?? { active: 0, waiting: [] };
    lanes.set(subscription, lane);
    if (lane.active + lane.waiting.length >= limits.heldPerSubscription) return false;
    if (lane.active >= limits.perSubscription) await new Promise<void>((turn) => lane.waiting.push(turn));
    lane.active += 1;
    try {
      await work();
    } finally {
      lane.active -= 1;
      lane.waiting.shift()?.();
      if (lane.active === 0 && lane.waiting.length === 0) lanes.delete(subscription);
    }
    return true;
  };

  const gate = createGate(limits.records);
  const handle = async (
    job: { id: string; deliveryId: string },
    delivery: DueDelivery | undefined,
  ): Promise<void> => {
    if (!delivery) {
      await gate(() => queue.complete(db, job.id));
      return;
    }
    const taken = await inLane(delivery.subscription_id, () => deliver(job.id, delivery, deps, gate));
    if (taken) return;
    // Its subscription has enough here already: back to the queue, for later or for another worker.
    await gate(() =>
      db.transaction().execute(async (transaction) => {
        await queue.add(transaction, [job.deliveryId], 2 + Math.random() * 8);
        await queue.complete(transaction, job.id);
      }),
    );
  };

  const take = async (): Promise<number> => {
    const room = limits.held - underWay.size;
    const jobs = room > 0 ? await queue.fetch(Math.min(room, 50)) : [];
    if (jobs.length === 0) return 0;
    const found = await findDeliveries(
      db,
      jobs.map(({ deliveryId }) => deliveryId),
    );
    const byId = new Map(found.map((delivery) => [delivery.id, delivery]));
    for (const job of jobs) {
      const work: Promise<void> = handle(job, byId.get(job.deliveryId))
        .catch(async (error: unknown) => {
          log.error({ err: error, delivery: job.deliveryId }, 'a webhook delivery could not be handled');
          // If the database is away this fails too; the job then comes back when it expires.
          await queue.giveBack(job.id).catch(() => undefined);
        })
        .finally(() => underWay.delete(work));
      underWay.add(work);
    }
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
  const running = keepRunning();
  return {
    async stop() {
      ending.abort();
      await running;
      await Promise.allSettled(underWay);
    },
  };
}
