// One round of a worker: records the attempts that have ended and leases deliveries that are due, in one transaction.
import { programName } from '../../../generated/operations.ts';
import { inTransaction, type Tx } from '../database/database.ts';
import { codeOf } from '../faults.ts';
import { clockFrom } from '../rules/database-time.ts';
import { recordAttempts, type Attempt } from './attempts.ts';
import type { DeliverDeps } from './deliver.ts';
import { leaseDeliveries, type LeaseLimits } from './deliveries.ts';
import type { UnderWay } from './under-way.ts';

interface RoundOptions extends Pick<DeliverDeps, 'db' | 'log' | 'noteAttempt'> {
  id: string;
  limits: Pick<LeaseLimits, 'perSubscription' | 'perAccount'>;
  /** How many deliveries the worker may hold now. */
  most: () => number;
  underWay: UnderWay;
}

/** Each call is a round. It returns whether it has leased something. */
export function createRound(options: RoundOptions): () => Promise<boolean> {
  const { db, log, id, limits, most, underWay } = options;
  /** One by one, so that an attempt that cannot be stored spoils no other. */
  const recordEach = async (attempts: readonly Attempt[]): Promise<void> => {
    for (const [index, attempt] of attempts.entries()) {
      try {
        const recorded = await inTransaction(db, (tx, now) => recordAttempts(tx, now, id, [attempt]));
        tell(options, recorded);
        underWay.putBack(recorded.locked);
      } catch (error) {
        if (!isInvalid(error)) {
          underWay.putBack(attempts.slice(index));
          throw error;
        }
        log.error({ err: error, delivery: attempt.delivery.id }, 'a webhook attempt could not be recorded');
      }
    }
  };
  const lease = (tx: Tx) => {
    const held = underWay.countHeld();
    const free = most() - [...held.values()].reduce((sum, number) => sum + number, 0);
    return leaseDeliveries(tx, { ...limits, worker: id, held, most: free });
  };
  const recordAndLease = (attempts: readonly Attempt[]) =>
    inTransaction(db, async (tx, now) => ({
      clock: clockFrom(now),
      recorded: await recordAttempts(tx, now, id, attempts),
      leased: await lease(tx),
    }));
  return async () => {
    const attempts = underWay.takeEnded();
    try {
      const { clock, recorded, leased } = await recordAndLease(attempts);
      tell(options, recorded);
      // The next round tries again.
      underWay.putBack(recorded.locked);
      for (const delivery of leased) underWay.start(delivery, clock());
      return leased.length > 0;
    } catch (error) {
      if (attempts.length > 0 && isRefused(error)) {
        await recordEach(attempts);
        return false;
      }
      underWay.putBack(attempts);
      throw error;
    }
  };
}

type Recorded = Awaited<ReturnType<typeof recordAttempts>>;

function tell({ log, noteAttempt }: RoundOptions, { recorded, lost, switchedOff }: Recorded): void {
  for (const attempt of recorded) {
    logAttempt(log, attempt);
    // Otherwise nothing was tried, and nobody has to do anything about it.
    if (attempt.delivery.active) noteAttempt?.(attempt.state);
  }
  for (const { delivery } of lost)
    log.info(
      { event: delivery.event_id, subscription: delivery.subscription_id },
      'webhook not recorded: its delivery was deleted, or another worker has leased it',
    );
  for (const subscription of switchedOff)
    log.warn(
      { subscription },
      `the webhook subscription failed and was switched off; to switch it on again: ${programName} webhooks activate ID`,
    );
}

/** Data exceptions, violated constraints, timeouts and locks: they may be about one attempt. Other errors are about the database. */
const isRefused = (error: unknown): boolean => /^(2[23]|57014|55P03)/.test(codeOf(error) ?? '');

/** These are about one attempt that can never be stored. */
const isInvalid = (error: unknown): boolean => /^2[23]/.test(codeOf(error) ?? '');

/** After it was recorded, because until then nobody knows whether the delivery still exists. */
function logAttempt(log: DeliverDeps['log'], attempt: Attempt): void {
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
