// A lane for each subscription that has deliveries here: so many at once, so many waiting, and of a failing one only one.
import { createGate, type Gate } from './limit.ts';

export interface LaneLimits {
  heldPerSubscription: number;
  /** Attempts under way at once, of one subscription. */
  perSubscription: number;
}

export interface Lane {
  /** Under way or waiting for their turn. */
  held: number;
  active: number;
  /** The last attempt failed: until one succeeds, one at a time is enough, and nobody waits here. */
  failing: boolean;
  gate: Gate;
}

export function createLanes({ heldPerSubscription, perSubscription }: LaneLimits) {
  const lanes = new Map<string, Lane>();
  return {
    /** `failing_since` is what all workers and earlier runs know of it. */
    isFull({ subscription_id, failing_since }: { subscription_id: string; failing_since: Date | null }) {
      const { held, failing } = lanes.get(subscription_id) ?? { held: 0, failing: false };
      return held >= (failing || failing_since ? 1 : heldPerSubscription);
    },
    async enter(subscription: string, work: (lane: Lane) => Promise<void>): Promise<void> {
      const lane = lanes.get(subscription) ?? {
        held: 0,
        active: 0,
        failing: false,
        gate: createGate(perSubscription),
      };
      lanes.set(subscription, lane);
      lane.held += 1;
      try {
        await lane.gate(() => work(lane));
      } finally {
        lane.held -= 1;
        if (lane.held === 0) lanes.delete(subscription);
      }
    },
  };
}
