// Delivers webhooks, in rounds: a round records the attempts that have ended and leases deliveries that are due, in one transaction. If
// nothing is known to be due it only looks, with one statement. A subscription and an account have a few under way each, so nobody
// waits because of somebody else's receiver.
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { inTransaction, type Tx } from '../database/database.ts';
import { codeOf, reasonOf } from '../faults.ts';
import { isDoneWithin } from '../rules/async.ts';
import { clockFrom, type DatabaseTime } from '../rules/database-time.ts';
import { recordAttempts, type Attempt } from './attempts.ts';
import { deliver, type DeliverDeps } from './deliver.ts';
import { endLeases, findNext, leaseDeliveries, type LeasedDelivery } from './deliveries.ts';
import { createSend } from './send.ts';

export interface WorkerLimits {
  /** Attempts under way to one subscription, by all workers together. A subscription that fails has one at a time. */
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
  /** A round that leased nothing and took longer is followed by a pause of twice its time, also if the worker is woken. */
  slowMilliseconds: number;
  /** Time that `stop` gives running attempts. Then they are cancelled, and the next worker retries them. */
  stopMilliseconds: number;
}

export const defaultLimits: WorkerLimits = {
  perSubscription: 16,
  perAccount: 100,
  perWorker: 1000,
  pollMilliseconds: 500,
  busyMilliseconds: 50,
  leastMilliseconds: 2,
  slowMilliseconds: 50,
  stopMilliseconds: 3_000,
};

/** Time that `stop` gives the database after that. */
const releaseMilliseconds = 5_000;

const longestRest = 5_000;

export interface Worker {
  /** For a commit that has stored deliveries. Those of other processes are found by polling. */
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
  const context = { ...deps, send, signal: cancellation.signal };
  const { pause, wake } = createPause(stopping.signal);
  const running = new Map<LeasedDelivery, Promise<void>>();
  /** Attempts that are not recorded yet. */
  let ended: Attempt[] = [];
  let mayBeDue = false;

  const start = (delivery: LeasedDelivery, at: DatabaseTime): void => {
    const attempt = deliver(delivery, at, context)
      .then((made) => {
        ended.push(made);
      })
      .catch((error: unknown) => {
        // Cancelled attempts are not recorded. Other leases end by themselves.
        if (!cancellation.signal.aborted)
          log.error({ err: error, delivery: delivery.id }, 'a webhook delivery could not be handled');
      })
      .finally(() => {
        running.delete(delivery);
        wake();
      });
    running.set(delivery, attempt);
  };

  const lease = (tx: Tx): Promise<LeasedDelivery[]> => {
    const leased = [...running.keys(), ...ended.map(({ delivery }) => delivery)];
    const held = new Map<string, number>();
    for (const { merchant_account_id: account } of leased) held.set(account, (held.get(account) ?? 0) + 1);
    const most = stopping.signal.aborted ? 0 : limits.perWorker - leased.length;
    return leaseDeliveries(tx, { ...limits, worker: id, held, most });
  };

  const noteRecorded = ({ recorded, lost, locked, switchedOff }: Recorded): void => {
    for (const attempt of recorded) logAttempt(log, attempt);
    for (const { delivery } of lost)
      log.info(
        { event: delivery.event_id, subscription: delivery.subscription_id },
        'webhook not recorded: its delivery was deleted, or another worker has leased it',
      );
    // The next round tries again.
    ended.push(...locked);
    for (const subscription of switchedOff)
      log.warn(
        { subscription },
        'the webhook subscription failed and was switched off; to switch it on again: payments webhooks activate ID',
      );
  };

  /** One by one, so that an attempt that cannot be stored spoils no other. */
  const recordEach = async (attempts: readonly Attempt[]): Promise<void> => {
    for (const [index, attempt] of attempts.entries()) {
      try {
        noteRecorded(await inTransaction(db, (tx, now) => recordAttempts(tx, now, id, [attempt])));
      } catch (error) {
        if (!isInvalid(error)) {
          // The next round tries again.
          ended.unshift(...attempts.slice(index));
          throw error;
        }
        log.error({ err: error, delivery: attempt.delivery.id }, 'a webhook attempt could not be recorded');
      }
    }
  };

  /** Whether it leased something. */
  const recordAndLease = async (): Promise<boolean> => {
    const attempts = ended;
    ended = [];
    try {
      const { leased, clock, ...recorded } = await inTransaction(db, async (tx, now) => ({
        clock: clockFrom(now),
        ...(await recordAttempts(tx, now, id, attempts)),
        leased: await lease(tx),
      }));
      noteRecorded(recorded);
      for (const delivery of leased) start(delivery, clock());
      return leased.length > 0;
    } catch (error) {
      if (attempts.length > 0 && isRefused(error)) {
        await recordEach(attempts);
        return false;
      }
      ended.unshift(...attempts);
      throw error;
    }
  };

  /** Returns for how long to wait before the next round; undefined if it leased something. */
  const round = async (): Promise<number | undefined> => {
    const isTried = mayBeDue || ended.length > 0;
    mayBeDue = false;
    if (isTried && (await recordAndLease())) return undefined;
    const untilNext = 1000 * ((await findNext(db)) ?? Infinity);
    if (untilNext <= 0) mayBeDue = true;
    if (mayBeDue && !isTried && (await recordAndLease())) return undefined;
    return Math.min(limits.pollMilliseconds, Math.max(limits.busyMilliseconds, untilNext));
  };

  // The log has the begin and the end of an outage, not every try.
  let unreadableSince: number | undefined;
  const poll = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        const begun = performance.now();
        const milliseconds = await round();
        const spent = performance.now() - begun;
        if (unreadableSince !== undefined)
          log.warn(
            { seconds: Math.round((performance.now() - unreadableSince) / 1000) },
            'the webhook queue can be read again',
          );
        unreadableSince = undefined;
        // While a long transaction runs, the index keeps the entries of finished deliveries, and even a look that finds none is slow.
        const isSlow = milliseconds !== undefined && spent > limits.slowMilliseconds;
        // Not so long that leases end before their attempts are recorded.
        const least = isSlow ? Math.min(2 * spent, longestRest) : limits.leastMilliseconds;
        await pause(Math.max(least, milliseconds ?? 0), least);
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
    wake: () => {
      mayBeDue = true;
      wake();
    },
    async stop() {
      stopping.abort();
      const deadline = setTimeout(() => {
        cancellation.abort();
      }, limits.stopMilliseconds);
      const finish = async () => {
        await polling;
        await Promise.all(running.values());
        await recordAndLease();
        await endLeases(db, id);
      };
      // A lease that cannot be ended now ends by itself.
      const finished = finish().catch(() => undefined);
      await isDoneWithin(limits.stopMilliseconds + releaseMilliseconds, finished);
      clearTimeout(deadline);
      close();
    },
  };
}

type Recorded = Awaited<ReturnType<typeof recordAttempts>>;

/** Data exceptions, violated constraints, timeouts and locks: they may be about one attempt. Other errors are about the database. */
const isRefused = (error: unknown): boolean => /^(2[23]|57014|55P03)/.test(codeOf(error) ?? '');

/** These are about one attempt that can never be stored. */
const isInvalid = (error: unknown): boolean => /^2[23]/.test(codeOf(error) ?? '');

/** After it was recorded, because until then nobody knows whether the delivery still exists. */
function logAttempt(log: Logger, attempt: Attempt): void {
  const { delivery, status, milliseconds, error, state, wait, traceId } = attempt;
  log[delivery.active ? 'info' : 'debug'](
    {
      traceId,
      event: delivery.event_id,
      subscription: delivery.subscription_id,
      attempt: delivery.attempts + 1,
      status,
      milliseconds,
      error: error ?? undefined,
      nextInSeconds: wait === undefined ? undefined : Math.round(wait),
    },
    `webhook ${state}`,
  );
}

/**
 * The pause between two rounds. It ends after its time, when `signal` is aborted, or, not before `least`, when the worker was woken
 * since the last pause.
 */
function createPause(signal: AbortSignal) {
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
    pause: async (milliseconds: number, least: number): Promise<void> => {
      const begun = performance.now();
      while (!signal.aborted) {
        const left = (isWoken ? Math.min(least, milliseconds) : milliseconds) - (performance.now() - begun);
        if (left <= 0) break;
        await sleep(left);
      }
      isWoken = false;
    },
    wake: (): void => {
      isWoken = true;
      end();
    },
  };
}
