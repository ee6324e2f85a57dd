// Limits how many deliveries of one subscription a worker holds. A failing subscription gets one slot only, so that it does
// not delay the others.
import { createLimit, type Limit } from './limit.ts';

export interface SubscriptionLimits {
  heldPerSubscription: number;
  /** Concurrent attempts per subscription. */
  perSubscription: number;
}

export interface Slots {
  /** Deliveries that run or wait. */
  held: number;
  active: number;
  /** Whether the last attempt failed. Until one succeeds, one delivery runs at a time and none waits here. */
  failing: boolean;
  limit: Limit;
}

export function createSubscriptionSlots({ heldPerSubscription, perSubscription }: SubscriptionLimits) {
  const bySubscription = new Map<string, Slots>();
  return {
    /** `failing_since` comes from the database, so failures that other workers saw count too. */
    isFull({ subscription_id, failing_since }: { subscription_id: string; failing_since: Date | null }) {
      const { held, failing } = bySubscription.get(subscription_id) ?? { held: 0, failing: false };
      return held >= (failing || failing_since ? 1 : heldPerSubscription);
    },
    /** Runs `work` when the subscription has a free slot. */
    async run(subscription: string, work: (slots: Slots) => Promise<void>): Promise<void> {
      const slots = bySubscription.get(subscription) ?? {
        held: 0,
        active: 0,
        failing: false,
        limit: createLimit(perSubscription),
      };
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
