// How many webhook subscriptions there may be. Each event is one outgoing request per active subscription, so without a limit
// one small POST causes as many requests as somebody likes.
import { OperatorFault } from '../../faults.ts';

/** For each merchant account, and for the subscriptions to all accounts together. */
export const subscriptionLimits = { active: 50, withInactive: 500 };

/** The message is for whoever wanted one more. */
export class TooManySubscriptions extends OperatorFault {}

const whose = (account: string | null) =>
  account === null ? 'for all merchant accounts' : `of merchant account ${account}`;

/** For a subscription that becomes active. `active`: how many there are already. */
export function checkActiveCount(active: number, account: string | null): void {
  if (active >= subscriptionLimits.active)
    throw new TooManySubscriptions(
      `There may be at most ${subscriptionLimits.active} active webhook subscriptions ${whose(account)}. Switch one off first.`,
    );
}

/** For a new subscription. `all`: how many there are already, with inactive ones. */
export function checkCount(all: number, account: string | null): void {
  if (all >= subscriptionLimits.withInactive)
    throw new TooManySubscriptions(
      `There may be at most ${subscriptionLimits.withInactive} webhook subscriptions ${whose(account)}, with inactive ones.`,
    );
}

/** Deliveries have signed events in them, so plain http is for the sandbox. */
export const isSchemeAllowed = (url: string, environment: 'sandbox' | 'production'): boolean =>
  environment === 'sandbox' || url.startsWith('https://');
