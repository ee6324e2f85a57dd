// What a worker holds: deliveries whose attempts are under way, and attempts that have ended and are not recorded yet.
import type { DatabaseTime } from '../rules/database-time.ts';
import type { Attempt } from './attempts.ts';
import { deliver, type AttemptContext } from './deliver.ts';
import type { LeasedDelivery } from './deliveries.ts';

export interface UnderWay {
  start: (delivery: LeasedDelivery, at: DatabaseTime) => void;
  hasEnded: () => boolean;
  /** The attempts that have ended. They are the caller's now: to be recorded, or put back. */
  takeEnded: () => Attempt[];
  putBack: (attempts: readonly Attempt[]) => void;
  /** How many deliveries the worker holds of each account. */
  countHeld: () => Map<string, number>;
  /** Resolves when the attempts that are under way now have ended. */
  allEnded: () => Promise<unknown>;
}

export function createUnderWay(context: AttemptContext, onEnded: () => void): UnderWay {
  const running = new Map<LeasedDelivery, Promise<void>>();
  let ended: Attempt[] = [];
  return {
    start(delivery, at) {
      const attempt = deliver(delivery, at, context)
        .then((made) => {
          ended.push(made);
        })
        .catch((error: unknown) => {
          // Cancelled attempts are not recorded. Other leases end by themselves.
          if (!context.signal.aborted)
            context.log.error(
              { err: error, delivery: delivery.id },
              'a webhook delivery could not be handled',
            );
        })
        .finally(() => {
          running.delete(delivery);
          onEnded();
        });
      running.set(delivery, attempt);
    },
    hasEnded: () => ended.length > 0,
    takeEnded() {
      const taken = ended;
      ended = [];
      return taken;
    },
    putBack(attempts) {
      ended = [...attempts, ...ended];
    },
    countHeld() {
      const held = new Map<string, number>();
      for (const { merchant_account_id: account } of [
        ...running.keys(),
        ...ended.map(({ delivery }) => delivery),
      ])
        held.set(account, (held.get(account) ?? 0) + 1);
      return held;
    },
    allEnded: () => Promise.all(running.values()),
  };
}
