// The rules of `has_replacement`, row by row of the specification's table: when new card details that the account updater
// found are applied.

/** Decline reasons that apply a pending replacement. */
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
  /** Whether the new details apply now and last_replaced_at is updated. */
  applies: boolean;
}

export function replacementAfter(hasReplacement: boolean, trigger: Trigger): Flag {
  switch (trigger.kind) {
    case 'found':
      // If only the expiration date changed, the new details apply at once.
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
