// Limits what one merchant account takes of a worker: places, and attempts under way. Deliveries to a subscription for all
// accounts count for the account of their event.
import { createKeyedLimit } from './limit.ts';

export interface AccountLimits {
  /** Deliveries that run or wait. */
  heldPerAccount: number;
  /** Concurrent attempts. */
  perAccount: number;
}

const postponeSeconds = 2;

export function createAccountSlots({ heldPerAccount, perAccount }: AccountLimits) {
  const held = new Map<string, number>();
  return {
    /** Undefined when the account has a free place, otherwise for how many seconds to postpone the delivery. */
    postponeFor: (account: string): number | undefined =>
      (held.get(account) ?? 0) >= heldPerAccount ? postponeSeconds : undefined,
    /** Takes a place while `work` runs. */
    async hold(account: string, work: () => Promise<void>): Promise<void> {
      held.set(account, (held.get(account) ?? 0) + 1);
      try {
        await work();
      } finally {
        const left = (held.get(account) ?? 1) - 1;
        if (left > 0) held.set(account, left);
        else held.delete(account);
      }
    },
    /** Runs an attempt when the account has few enough under way. */
    attempt: createKeyedLimit(perAccount),
  };
}
