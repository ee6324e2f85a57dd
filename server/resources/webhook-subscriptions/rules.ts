// How many webhook subscriptions there may be. Each event is one outgoing request per active subscription, so without a limit
// one small POST causes as many requests as somebody likes.
import { OperatorFault } from '../../operator-fault.ts';

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

export class UncallableAddress extends OperatorFault {
  constructor() {
    // Without the address, which may have a password in it.
    super(
      'The address of this subscription cannot be called: it needs a host and a valid port, and no user name or password. Create a new subscription.',
    );
  }
}

/** Deliveries have signed events in them, so plain http is for the sandbox. */
export const isSchemeAllowed = (url: string, environment: 'sandbox' | 'production'): boolean =>
  environment === 'sandbox' || url.startsWith('https://');

/**
 * Whether a request can be sent to an http or https URL. The parser checks the host and that the port is at most 65535. A
 * user name and password have a place of their own in the contract, where they are not shown in the clear.
 */
export function isCallable(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, port } = new URL(text);
  return username === '' && password === '' && port !== '0';
}

/** The pattern of the contract cannot tell a host such as `256.1.1.1` from one that a request can be sent to. */
export const hostFaults = (property: 'url' | 'redirect_url', address: string | null = null) =>
  address === null || isCallable(address)
    ? []
    : [
        {
          loc: ['body', property],
          msg: 'must have a host that is a valid name or IP address',
          type: 'value_error.url.host',
        },
      ];
