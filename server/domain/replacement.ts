// The replacement flag, row by row of the specification's table. New details that the account updater found wait until one
// of three things happens; then they apply.

/** The reasons of a decline for which a waiting replacement applies. */
export const replacingDeclines = [
  'canceled_payment_method',
  'expired_payment_method',
  'unavailable_payment_method',
  'unknown_payment_method',
] as const;

export type Trigger =
  { kind: 'found'; changesNumber: boolean } | { kind: 'expired' } | { kind: 'declined'; reason: string };

export interface Flag {
  hasReplacement: boolean;
  /** Whether the waiting details apply now, and last_replaced_at moves. */
  applies: boolean;
}

export function replacementAfter(hasReplacement: boolean, trigger: Trigger): Flag {
  switch (trigger.kind) {
    case 'found':
      // Where only the date changed there is nothing to wait for: the details apply as they are found.
      return trigger.changesNumber
        ? { hasReplacement: true, applies: false }
        : { hasReplacement: false, applies: true };
    case 'expired':
      return { hasReplacement: false, applies: hasReplacement };
    case 'declined': {
      const replaces = (replacingDeclines as readonly string[]).includes(trigger.reason);
      return replaces
        ? { hasReplacement: false, applies: hasReplacement }
        : { hasReplacement, applies: false };
    }
  }
}
