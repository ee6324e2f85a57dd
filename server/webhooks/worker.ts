// Fetches deliveries from the queue and sends them concurrently, with a limit per subscription, so that a slow or failing
// receiver does not delay the others. Any number of workers may run on one database; they take turns.
import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { isDoneWithin } from '../domain/deadline.ts';
import type { Vault } from '../domain/vault.ts';
import { reasonOf } from '../store/database.ts';
import { findDeliveries, type DueDelivery } from '../store/events.ts';
import { deliver, endOf, type DeliverDeps } from './deliver.ts';
import { createLimit } from './limit.ts';
import { createLanes } from './lanes.ts';
import { createPause } from './pause.ts';
import { createPlaces, type Answered, type PlaceLimits } from './places.ts';
import type { Job } from './queue.ts';
import { createRecord } from './record.ts';
import { createSend } from './send.ts';
import { createTurns } from './turns.ts';

export interface WorkerLimits extends PlaceLimits {
  /** Deliveries that this worker holds, running or waiting for a slot of their subscription or account. */
  held: number;
  /** Concurrent database transactions. Few, because requests use the same pool. */
  transactions: number;
  batch: number;
  pollMilliseconds: number;
  /** The same while deliveries are due. */
  busyMilliseconds: number;
  /** The least time between two fetches, however often the worker is woken. */
  leastMilliseconds: number;
  heartbeatMilliseconds: number;
  /** A delivery that waited for longer is read again before it is sent: it may have been erased. */
  staleMilliseconds: number;
  /** The same for turns, which end sooner: nobody delivers for an account whose worker was killed until then. */
  turnMilliseconds: number;
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
  heldFailing: 4,
  perSubscription: 4,
  transactions: 4,
  batch: 100,
  pollMilliseconds: 250,
  busyMilliseconds: 100,
  leastMilliseconds: 20,
  heartbeatMilliseconds: 5_000,
  staleMilliseconds: 1_000,
  turnMilliseconds: 2_000,
  stopMilliseconds: 3_000,
  releaseMilliseconds: 5_000,
};

export interface Worker {
  /** Looks for deliveries soon. Nothing is lost without it: other processes cannot call it, so the worker polls, too. */
  wake: () => void;
  /** Fetches nothing more, and gives running attempts a few seconds to finish. Ends within 8 s, whatever is under way. */
  stop: () => Promise<void>;
}

export function startWorker(deps: DeliverDeps, limits: WorkerLimits = defaultLimits): Worker {
  const { queue, db, log } = deps;
  const stopping = new AbortController();
  const cancellation = new AbortController();
  // Every running attempt adds a listener; `limits` bounds their number.
  setMaxListeners(0, cancellation.signal);
  const places = createPlaces(limits);
  const turns = createTurns(db);
  const lanes = createLanes(deps, places, turns);
  const running = new Map<string, Promise<void>>();
  const transactionLimit = createLimit(limits.transactions);
  const record = createRecord({ ...deps, limit: transactionLimit });
  const { send, close } = createSend(deps.options);
  const { pause, wake } = createPause(limits.leastMilliseconds, stopping.signal);
  /** Subscriptions of which more may be due than there was room for. */
  let backlogs = new Set<string>();

  const attempt = (job: Job, delivery: DueDelivery, open: Vault['open']): Promise<Answered> => {
    const signal = cancellation.signal;
    return deliver(job, delivery, { ...deps, open, send, record, limit: transactionLimit, signal });
  };

  /** Fetches the next ones before a receiver has to wait for them. One that fails gets them at the next poll. */
  const refill = (delivery: DueDelivery) => {
    const { subscription_id: id } = delivery;
    if (backlogs.has(id) && places.isHalfFree(delivery) && backlogs.delete(id)) wake();
  };

  const endWithoutDelivery = async (job: Job): Promise<void> => {
    await transactionLimit(() => queue.complete(db, [job.id]));
    const { deliveryId: delivery, subscription_id: subscription } = job;
    log.info({ delivery, subscription }, `webhook ${await endOf(job, db)}`);
  };

  const hold = async (job: Job, delivery: DueDelivery, open: Vault['open']): Promise<void> => {
    const read = performance.now();
    using _turn = turns.hold(delivery);
    const wasTried = await places.hold(delivery, async () => {
      // It may have waited for its turn.
      if (stopping.signal.aborted) return { succeeded: true, finish: () => queue.release(job.id) };
      const isStale = performance.now() - read >= limits.staleMilliseconds;
      const [current] = isStale ? await findDeliveries(db, [job]) : [delivery];
      if (!current) return { succeeded: true, finish: () => endWithoutDelivery(job) };
      const answered = await attempt(job, current, open);
      if (!answered.succeeded) return answered;
      const finish = async () => {
        await answered.finish();
        refill(delivery);
      };
      return { ...answered, finish };
    });
    if (!wasTried) await queue.putBack(job.id);
  };

  const handle = async (job: Job, delivery: DueDelivery | undefined, open: Vault['open']): Promise<void> => {
    try {
      if (delivery) await hold(job, delivery, open);
      else await endWithoutDelivery(job);
    } catch (error) {
      if (!cancellation.signal.aborted)
        log.error({ err: error, delivery: job.deliveryId }, 'a webhook delivery could not be handled');
      // This fails too while the database is down; without a heartbeat the lease then expires.
      await queue.release(job.id).catch(() => undefined);
    } finally {
      running.delete(job.id);
    }
  };

  /** Returns for how long to wait before the next one. */
  const fetchBatch = async (): Promise<number> => {
    const capacity = Math.min(limits.held - running.size, limits.batch);
    if (capacity <= 0) return limits.busyMilliseconds;
    const { jobs, hasMore, isBusy, ...fetched } = await lanes.fetch(capacity);
    backlogs = fetched.backlogs;
    if (jobs.length > 0) {
      const open = openingOnce(deps.vault);
      const byId = new Map((await findDeliveries(db, jobs)).map((delivery) => [delivery.id, delivery]));
      for (const job of jobs) running.set(job.id, handle(job, byId.get(job.deliveryId), open));
    }
    if (hasMore) return 0;
    return isBusy ? limits.busyMilliseconds : limits.pollMilliseconds;
  };

  // The log has the begin and the end of an outage, not every try.
  let unreadableSince: number | undefined;
  const noteUnreadable = (error: unknown): void => {
    if (unreadableSince === undefined)
      log.warn({ reason: reasonOf(error) }, 'the webhook queue cannot be read; trying again every second');
    unreadableSince ??= performance.now();
  };
  const noteRead = (): void => {
    if (unreadableSince === undefined) return;
    const seconds = Math.round((performance.now() - unreadableSince) / 1000);
    log.warn({ seconds }, 'the webhook queue can be read again');
    unreadableSince = undefined;
  };

  const poll = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const milliseconds = await fetchBatch();
      noteRead();
      if (milliseconds > 0) await pause(milliseconds);
    }
  };

  const pollWithRetry = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await poll().catch(async (error: unknown) => {
        noteUnreadable(error);
        await wait(1_000, undefined, { signal: stopping.signal }).catch(() => undefined);
      });
    }
  };

  // A heartbeat that fails needs no log line: the next fetch fails too, and logs.
  const heartbeat = setInterval(() => {
    if (running.size > 0) queue.heartbeat([...running.keys()]).catch(() => undefined);
  }, limits.heartbeatMilliseconds);
  const keeping = setInterval(() => {
    turns.keep(unreadableSince === undefined).catch(() => undefined);
  }, limits.turnMilliseconds);
  const polling = pollWithRetry();
  return {
    wake,
    async stop() {
      stopping.abort();
      const ended = polling.then(() => Promise.all(running.values()));
      await isDoneWithin(limits.stopMilliseconds, ended);
      cancellation.abort();
      // Nothing extends the leases any more: a job that cannot be released now is delivered when its lease ends.
      clearInterval(heartbeat);
      clearInterval(keeping);
      close();
      await isDoneWithin(
        limits.releaseMilliseconds,
        ended.then(() => turns.passAll()).catch(() => undefined),
      );
    },
  };
}

/** The deliveries of a batch have few different secrets. */
function openingOnce(vault: Vault): Vault['open'] {
  const opened = new Map<string, string>();
  return (sealed, place) => {
    const key = JSON.stringify([sealed, place]);
    const text = opened.get(key) ?? vault.open(sealed, place);
    opened.set(key, text);
    return text;
  };
}
