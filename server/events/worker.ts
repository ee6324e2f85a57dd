// Delivers webhooks, in rounds: a round is one transaction that records the attempts that have ended and leases deliveries that are
// due. A subscription and an account have a few under way each, so nobody waits because of somebody else's receiver.
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { inTransaction } from '../database/database.ts';
import { reasonOf } from '../database/faults.ts';
import { codeOf } from '../faults.ts';
import { isDoneWithin } from '../rules/async.ts';
import { deliver, type DeliverDeps, type Ended } from './deliver.ts';
import { recordAttempts, type Recorded } from './attempts.ts';
import { endLeases, leaseDeliveries, type LeasedDelivery } from './deliveries.ts';
import { createSend } from './send.ts';

export interface WorkerLimits {
  /** Attempts under way to one subscription, by all workers together. One that fails has one at a time. */
  perSubscription: number;
  /** Attempts of one account that this worker has under way, to all of its subscriptions. */
  perAccount: number;
  perWorker: number;
  /** The longest time between two rounds. */
  pollMilliseconds: number;
  /** The same while deliveries are due that there is no room for, or that another worker has just looked at. */
  busyMilliseconds: number;
  /** The least time between two rounds, so that what ends or comes meanwhile is in one transaction. */
  leastMilliseconds: number;
  /** Time that `stop` gives running attempts. Then they are cancelled, and the next worker retries them. */
  stopMilliseconds: number;
  /** Time that `stop` then gives the database. */
  releaseMilliseconds: number;
}

export const defaultLimits: WorkerLimits = {
  perSubscription: 16,
  perAccount: 100,
  perWorker: 1000,
  pollMilliseconds: 250,
  busyMilliseconds: 50,
  leastMilliseconds: 2,
  stopMilliseconds: 3_000,
  releaseMilliseconds: 5_000,
};

export interface Worker {
  /** Looks for deliveries soon. Nothing is lost without it, because the worker polls, too. */
  wake: () => void;
  /** Leases nothing more, and gives running attempts a few seconds to finish. Ends within 8 s, whatever is under way. */
  stop: () => Promise<void>;
}

export function startWorker(deps: DeliverDeps, limits: WorkerLimits = defaultLimits): Worker {
  const { db, log } = deps;
  const id = randomUUID();
  const stopping = new AbortController();
  const cancellation = new AbortController();
  // Every running attempt adds a listener; `limits` bounds their number.
  setMaxListeners(0, cancellation.signal);
  const { send, close } = createSend(deps.options);
  const { pause, wake } = createPause(limits.leastMilliseconds, stopping.signal);
  /** What this worker has leased: attempts under way, and those that are not recorded yet. */
  const held = new Map<string, LeasedDelivery>();
  let ended: Ended[] = [];
  const running = new Set<Promise<void>>();

  const start = (delivery: LeasedDelivery): void => {
    held.set(delivery.id, delivery);
    const attempt = deliver(delivery, { ...deps, send, signal: cancellation.signal })
      .then((attempted) => {
        ended.push(attempted);
      })
      .catch((error: unknown) => {
        // Cancelled attempts are not recorded. Other leases end by themselves.
        held.delete(delivery.id);
        if (!cancellation.signal.aborted)
          log.error({ err: error, delivery: delivery.id }, 'a webhook delivery could not be handled');
      })
      .finally(() => {
        running.delete(attempt);
        wake();
      });
    running.add(attempt);
  };

  /** What may be leased when these attempts are recorded. */
  const roomBeside = (attempts: readonly Ended[]) => {
    const over = new Set(attempts.map(({ delivery }) => delivery.id));
    const heldByAccount = new Map<string, number>();
    for (const { id: one, merchant_account_id: account } of held.values())
      if (!over.has(one)) heldByAccount.set(account, (heldByAccount.get(account) ?? 0) + 1);
    const most = stopping.signal.aborted ? 0 : limits.perWorker - held.size + over.size;
    const { perSubscription, perAccount } = limits;
    const { isSharded } = deps;
    return { worker: id, perSubscription, perAccount, held: heldByAccount, most, isSharded };
  };

  const noteRecorded = (attempts: readonly Ended[], { lost, switchedOff }: Recorded): void => {
    for (const one of attempts) {
      // The next round tries again.
      if (lost.get(one.delivery.id) === 'locked') {
        ended.push(one);
        continue;
      }
      held.delete(one.delivery.id);
      logAttempt(log, one, lost.get(one.delivery.id));
    }
    for (const subscription of switchedOff)
      log.warn(
        { subscription },
        'the webhook subscription failed and was switched off; to switch it on again: payments webhooks activate ID',
      );
  };

  /** One by one, so that an attempt that cannot be stored spoils no other. */
  const recordEach = async (attempts: readonly Ended[]): Promise<void> => {
    for (const attempted of attempts) {
      try {
        const recorded = await inTransaction(db, (tx) => recordAttempts(tx, id, [attempted]));
        noteRecorded([attempted], recorded);
      } catch (error) {
        if (!isRefused(error)) throw error;
        held.delete(attempted.delivery.id);
        log.error({ err: error, delivery: attempted.delivery.id }, 'a webhook attempt could not be recorded');
      }
    }
  };

  /** Returns for how long to wait before the next round. */
  const round = async (): Promise<number> => {
    const attempts = ended;
    ended = [];
    try {
      const [recorded, found] = await inTransaction(db, async (tx) => [
        await recordAttempts(tx, id, attempts),
        await leaseDeliveries(tx, roomBeside(attempts)),
      ]);
      noteRecorded(attempts, recorded);
      for (const delivery of found.leased) start(delivery);
      if (found.leased.length > 0) return limits.leastMilliseconds;
      const untilNext = (found.nextSeconds ?? Infinity) * 1000;
      return Math.min(limits.pollMilliseconds, Math.max(limits.busyMilliseconds, untilNext));
    } catch (error) {
      if (attempts.length > 0 && isRefused(error)) {
        await recordEach(attempts);
        return limits.leastMilliseconds;
      }
      ended.unshift(...attempts);
      throw error;
    }
  };

  // The log has the begin and the end of an outage, not every try.
  let unreadableSince: number | undefined;
  const poll = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        const milliseconds = await round();
        if (unreadableSince !== undefined)
          log.warn(
            { seconds: Math.round((performance.now() - unreadableSince) / 1000) },
            'the webhook queue can be read again',
          );
        unreadableSince = undefined;
        await pause(milliseconds);
      } catch (error) {
        if (unreadableSince === undefined)
          log.warn(
            { reason: reasonOf(error) },
            'the webhook queue cannot be read; trying again every second',
          );
        unreadableSince ??= performance.now();
        await pause(1_000, 1_000);
      }
    }
  };

  const polling = poll();
  return {
    wake,
    async stop() {
      stopping.abort();
      const attempts = polling.then(() => Promise.all(running));
      await isDoneWithin(limits.stopMilliseconds, attempts);
      cancellation.abort();
      close();
      // A lease that cannot be ended now ends by itself.
      const released = attempts.then(round).then(() => endLeases(db, id));
      await isDoneWithin(
        limits.releaseMilliseconds,
        released.catch(() => undefined),
      );
    },
  };
}

/** Data exceptions, violated constraints, and a row that somebody else has locked. If the database is away, nothing can be stored. */
const isRefused = (error: unknown): boolean => /^(2[23]|57014|55P03)/.test(codeOf(error) ?? '');

/** After it was recorded, because until then nobody knows whether the delivery still exists. */
function logAttempt(
  log: Logger,
  { delivery, attempt, outcome, wait, traceId }: Ended,
  lost: string | undefined,
): void {
  const { status, milliseconds, error } = attempt;
  const state = outcome === 'succeeded' ? outcome : wait === undefined ? 'failed' : 'pending';
  log.info(
    {
      traceId,
      event: delivery.event_id,
      subscription: delivery.subscription_id,
      attempt: delivery.attempts + 1,
      status,
      milliseconds,
      error: error ?? undefined,
      nextInSeconds: lost === undefined && wait !== undefined ? Math.round(wait) : undefined,
    },
    `webhook ${lost ?? state}`,
  );
}

// The pause between two rounds of the worker, which ends early when there is something to do.

interface Pause {
  /** Ends after this time, when `signal` is aborted, or, not before `least`, when the worker was woken since the last pause. */
  pause: (milliseconds: number, least?: number) => Promise<void>;
  wake: () => void;
}

export function createPause(usualLeast: number, signal: AbortSignal): Pause {
  let isWoken = false;
  let end: () => void = () => undefined;
  const sleep = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  signal.addEventListener('abort', () => {
    end();
  });
  return {
    async pause(milliseconds, least = usualLeast) {
      const begun = performance.now();
      while (!signal.aborted) {
        const left = (isWoken ? Math.min(least, milliseconds) : milliseconds) - (performance.now() - begun);
        if (left <= 0) break;
        await sleep(left);
      }
      isWoken = false;
    },
    wake() {
      isWoken = true;
      end();
    },
  };
}
