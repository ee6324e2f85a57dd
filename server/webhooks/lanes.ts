// One lane per subscription: bounds how many of its deliveries run and wait in this worker. A failing one gets a single
// place.
import { createLimit, type Limit } from './limit.ts';

export interface LaneLimits {
  heldPerSubscription: number;
  /** Attempts under way at once, of one subscription. */
  perSubscription: number;
}

export interface Lane {
  /** Under way or waiting for their turn. */
  held: number;
  active: number;
  /** The last attempt failed. Until one succeeds only one runs at a time, and none waits here. */
  failing: boolean;
  limit: Limit;
}

export function createLanes({ heldPerSubscription, perSubscription }: LaneLimits) {
  const lanes = new Map<string, Lane>();
  return {
    /** `failing_since` comes from the database, so other workers' failures count too. */
    isFull({ subscription_id, failing_since }: { subscription_id: string; failing_since: Date | null }) {
      const { held, failing } = lanes.get(subscription_id) ?? { held: 0, failing: false };
      return held >= (failing || failing_since ? 1 : heldPerSubscription);
    },
    async enter(subscription: string, work: (lane: Lane) => Promise<void>): Promise<void> {
      const lane = lanes.get(subscription) ?? {
        held: 0,
        active: 0,
        failing: false,
        limit: createLimit(perSubscription),
      };
      lanes.set(subscription, lane);
      lane.held += 1;
      try {
        await lane.limit(() => work(lane));
      } finally {
        lane.held -= 1;
        if (lane.held === 0) lanes.delete(subscription);
      }
    },
  };
}
