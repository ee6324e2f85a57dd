// Delivers webhooks, in rounds: a round records the attempts that have ended and leases deliveries that are due, in one transaction. If
// nothing is known to be due it only looks, with one statement. A subscription and an account have a few under way each, so nobody
// waits because of somebody else's receiver.
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { reasonOf } from '../faults.ts';
import { isDoneWithin } from '../rules/async.ts';
import type { DeliverDeps } from './deliver.ts';
import { endLeases, findNext } from './deliveries.ts';
import { createRound } from './round.ts';
import { createSend } from './send.ts';
import { createUnderWay } from './under-way.ts';

export const defaultLimits = {
  /** Attempts under way to one subscription, by all workers together. A subscription that fails has one at a time. */
  perSubscription: 16,
  /** Attempts of one account that this worker has under way, to all of its subscriptions. */
  perAccount: 100,
  perWorker: 1000,
  /** The longest time between two rounds. */
  pollMilliseconds: 500,
  /** The same while deliveries are due that there is no room for, or that another worker has just looked at. */
  busyMilliseconds: 50,
  /** The least time between two rounds, so that what ends or comes meanwhile is in one transaction. */
  leastMilliseconds: 2,
  /** A round that leased nothing and took longer is followed by a pause of twice its time, also if the worker is woken. */
  slowMilliseconds: 50,
  /** Time that `stop` gives running attempts. Then they are cancelled, and the next worker retries them. */
  stopMilliseconds: 3_000,
};

export type WorkerLimits = typeof defaultLimits;

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
  const { pause, wake } = createPause(stopping.signal);
  const underWay = createUnderWay({ ...deps, send, signal: cancellation.signal }, wake);
  const most = () => (stopping.signal.aborted ? 0 : limits.perWorker);
  const recordAndLease = createRound({ ...deps, id, limits, most, underWay });
  let mayBeDue = false;

  /** Returns for how long to wait before the next round; undefined if it leased something. */
  const round = async (): Promise<number | undefined> => {
    const isTried = mayBeDue || underWay.hasEnded();
    mayBeDue = false;
    if (isTried && (await recordAndLease())) return undefined;
    const untilNext = 1000 * ((await findNext(db)) ?? Infinity);
    if (untilNext <= 0) mayBeDue = true;
    if (mayBeDue && !isTried && (await recordAndLease())) return undefined;
    return Math.min(limits.pollMilliseconds, Math.max(limits.busyMilliseconds, untilNext));
  };

  const outage = createOutageLog(log);
  const poll = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        const begun = performance.now();
        const milliseconds = await round();
        outage.end();
        const least = leastPause(performance.now() - begun, milliseconds === undefined, limits);
        await pause(Math.max(least, milliseconds ?? 0), least);
      } catch (error) {
        outage.begin(error);
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
        await underWay.allEnded();
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

/** How long to wait at least after a round that took so long. */
function leastPause(
  spent: number,
  hasLeased: boolean,
  { slowMilliseconds, leastMilliseconds }: WorkerLimits,
): number {
  // While a long transaction runs, the index keeps the entries of finished deliveries, and even a look that finds none is slow.
  const isSlow = !hasLeased && spent > slowMilliseconds;
  // Not so long that leases end before their attempts are recorded.
  return isSlow ? Math.min(2 * spent, longestRest) : leastMilliseconds;
}

/** The log has the begin and the end of an outage, not every try. */
function createOutageLog(log: Logger) {
  let since: number | undefined;
  return {
    begin(error: unknown) {
      if (since === undefined)
        log.warn({ reason: reasonOf(error) }, 'the webhook queue cannot be read; trying again every second');
      since ??= performance.now();
    },
    end() {
      if (since !== undefined)
        log.warn(
          { seconds: Math.round((performance.now() - since) / 1000) },
          'the webhook queue can be read again',
        );
      since = undefined;
    },
  };
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
