// Limits how many deliveries of one subscription a worker holds. A subscription that succeeds may hold more of them, one that
// hangs few, and one that fails only one, so that none of them delays the others.
import { createLimit, type Limit } from './limit.ts';

export interface SubscriptionLimits {
  heldPerSubscription: number;
  /** The same, for a subscription that has not succeeded yet. Each success adds one. */
  heldAtFirst: number;
  /** Concurrent attempts per subscription. */
  perSubscription: number;
}

export interface Slots {
  /** Deliveries that run or wait. */
  held: number;
  active: number;
  /** Whether the last attempt failed. Until one succeeds, one delivery runs at a time and none waits here. */
  failing: boolean;
  successes: number;
  /** When an attempt ended last, or when the first one began. */
  lastEnd: number;
  limit: Limit;
}

// How long a delivery is postponed when its subscription has no free slot. While no attempt of the subscription ends, its
// backlog would otherwise be fetched and postponed three times a second.
const postponeSeconds = { busy: 0.3, stalled: 2, failing: 10 };
const stalledMilliseconds = 2_000;

export function createSubscriptionSlots(limits: SubscriptionLimits) {
  const bySubscription = new Map<string, Slots>();
  const unused = (): Slots => ({
    held: 0,
    active: 0,
    failing: false,
    successes: 0,
    lastEnd: performance.now(),
    limit: createLimit(limits.perSubscription),
  });
  return {
    /**
     * Undefined when there is a free slot, otherwise for how many seconds to postpone the delivery. `failing_since` comes
     * from the database, so failures that other workers saw count too.
     */
    postponeFor({
      subscription_id: id,
      failing_since,
    }: {
      subscription_id: string;
      failing_since: Date | null;
    }): number | undefined {
      const slots = bySubscription.get(id);
      if (!slots) return undefined;
      if (slots.failing || failing_since) return slots.held >= 1 ? postponeSeconds.failing : undefined;
      if (slots.held < Math.min(limits.heldPerSubscription, limits.heldAtFirst + slots.successes))
        return undefined;
      const isStalled = performance.now() - slots.lastEnd > stalledMilliseconds;
      return isStalled ? postponeSeconds.stalled : postponeSeconds.busy;
    },
    /** Runs `work` when the subscription has a free slot. */
    async run(subscription: string, work: (slots: Slots) => Promise<void>): Promise<void> {
      const slots = bySubscription.get(subscription) ?? unused();
      bySubscription.set(subscription, slots);
      slots.held += 1;
      try {
        await slots.limit(() => work(slots));
      } finally {
        slots.held -= 1;
        if (slots.held === 0) bySubscription.delete(subscription);
      }
    },
  };
}

/** Notes how an attempt ended. */
export function noteEnd(slots: Slots, succeeded: boolean): void {
  slots.failing = !succeeded;
  slots.successes = succeeded ? slots.successes + 1 : 0;
  slots.lastEnd = performance.now();
}

export const failingSeconds = postponeSeconds.failing;
