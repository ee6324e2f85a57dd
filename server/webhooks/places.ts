// Limits what one subscription and one merchant account take of a worker: places (deliveries that run or wait) and attempts
// under way. Deliveries to a subscription for all accounts count for the account of their event.

export interface PlaceLimits {
  heldPerSubscription: number;
  /** The same, for a subscription that has not succeeded yet. Each success adds one. */
  heldAtFirst: number;
  /** The same, for a subscription whose last attempt failed. */
  heldFailing: number;
  heldPerAccount: number;
  /** Concurrent attempts. A subscription whose last attempt failed has one at a time. */
  perSubscription: number;
  perAccount: number;
}

/** Where a delivery goes, and for which account. */
export interface Recipient {
  subscription_id: string;
  merchant_account_id: string;
  /** Whether the subscription is for all accounts. */
  for_all: boolean;
  active: boolean;
  /** From the database, so failures that other workers saw count too. */
  failing_since: Date | null;
}

interface Slots {
  held: number;
  attempts: number;
}

interface SubscriptionSlots extends Slots {
  heldByAccount: Map<string, number>;
  failing: boolean;
  successes: number;
}

interface Waiting {
  subscription: SubscriptionSlots;
  account: Slots;
  /** False when the delivery loses its place. */
  decide: (starts: boolean) => void;
}

export interface Places {
  /** How many more deliveries to each of these recipients may be held, if all of them are. */
  allot: (recipients: readonly Recipient[]) => number[];
  /**
   * Takes a place and runs `attempt` when subscription and account both have a free slot, so that a delivery that waits for
   * its account keeps no slot of the subscription from other accounts. Returns false, without an attempt, when the place was
   * needed.
   */
  hold: (recipient: Recipient, attempt: () => Promise<Answered>) => Promise<boolean>;
  /** Whether at least half of the places for this recipient are free. */
  isHalfFree: (recipient: Recipient) => boolean;
}

/** An attempt that is over for the receiver: its slot is free, so that the next one need not wait for the database. */
export interface Answered {
  succeeded: boolean;
  /** The rest of the work. The delivery keeps its place meanwhile. */
  finish: () => Promise<void>;
}

const mostEarned = 1_000;

export function createPlaces(limits: PlaceLimits): Places {
  const subscriptions = new Map<string, SubscriptionSlots>();
  const accounts = new Map<string, Slots>();
  let waiting: Waiting[] = [];
  /** Successes of subscriptions that hold nothing now, those of the last ones only. */
  const earned = new Map<string, number>();
  // A fast receiver is done before the next fetch. Without its successes it would get the first few places again each time.
  const remember = (subscription_id: string, successes: number) => {
    earned.delete(subscription_id);
    if (successes > 0) earned.set(subscription_id, successes);
    const [oldest] = earned.keys();
    if (oldest !== undefined && earned.size > mostEarned) earned.delete(oldest);
  };

  const isFailing = ({ active, failing_since }: Recipient) => active && failing_since !== null;
  const enter = (recipient: Recipient, places: number) => {
    const { subscription_id, merchant_account_id } = recipient;
    const subscription = subscriptions.get(subscription_id) ?? {
      ...{ held: 0, attempts: 0, heldByAccount: new Map<string, number>() },
      ...{ failing: isFailing(recipient), successes: earned.get(subscription_id) ?? 0 },
    };
    const account = accounts.get(merchant_account_id) ?? { held: 0, attempts: 0 };
    subscriptions.set(subscription_id, subscription);
    accounts.set(merchant_account_id, account);
    const { heldByAccount } = subscription;
    subscription.held += places;
    account.held += places;
    heldByAccount.set(merchant_account_id, (heldByAccount.get(merchant_account_id) ?? 0) + places);
    const leave = () => {
      subscription.held -= places;
      account.held -= places;
      heldByAccount.set(merchant_account_id, (heldByAccount.get(merchant_account_id) ?? 0) - places);
      if (heldByAccount.get(merchant_account_id) === 0) heldByAccount.delete(merchant_account_id);
      if (subscription.held === 0) {
        subscriptions.delete(subscription_id);
        remember(subscription_id, subscription.successes);
      }
      if (account.held === 0) accounts.delete(merchant_account_id);
    };
    return { subscription, account, leave };
  };

  const roomFor = (recipient: Recipient): { room: number; share: number } => {
    const subscription = subscriptions.get(recipient.subscription_id);
    const account = accounts.get(recipient.merchant_account_id);
    // Nothing is sent to a subscription that is switched off, so its deliveries end at once.
    const failing = recipient.active && (subscription?.failing === true || isFailing(recipient));
    const successes = subscription?.successes ?? earned.get(recipient.subscription_id) ?? 0;
    const places = failing
      ? limits.heldFailing
      : Math.min(limits.heldPerSubscription, limits.heldAtFirst + successes);
    // Half, because one account whose attempts are all under way would otherwise fill a subscription for all accounts.
    const share = recipient.for_all ? Math.ceil(places / 2) : places;
    const ofAccount = subscription?.heldByAccount.get(recipient.merchant_account_id) ?? 0;
    const room = Math.min(
      places - (subscription?.held ?? 0),
      share - ofAccount,
      limits.heldPerAccount - (account?.held ?? 0),
    );
    return { room: Math.max(0, room), share };
  };

  const canStart = ({ subscription, account }: Waiting) =>
    subscription.attempts < (subscription.failing ? 1 : limits.perSubscription) &&
    account.attempts < limits.perAccount;
  const start = (one: Waiting) => {
    one.subscription.attempts += 1;
    one.account.attempts += 1;
    one.decide(true);
  };
  const startWaiting = () => {
    waiting = waiting.filter((one) => {
      if (!canStart(one)) return true;
      start(one);
      return false;
    });
  };
  /** A subscription that begins to fail gives up its places, so that its account can use them. */
  const giveUpPlaces = (subscription: SubscriptionSlots) => {
    let kept = subscription.attempts;
    waiting = waiting.filter((one) => {
      if (one.subscription !== subscription || ++kept <= limits.heldFailing) return true;
      one.decide(false);
      return false;
    });
  };

  return {
    allot(recipients) {
      const entered: (() => void)[] = [];
      const rooms = recipients.map((recipient) => {
        const { room } = roomFor(recipient);
        if (room > 0) entered.push(enter(recipient, room).leave);
        return room;
      });
      for (const leave of entered) leave();
      return rooms;
    },
    async hold(recipient, attempt) {
      const { subscription, account, leave } = enter(recipient, 1);
      try {
        const starts = await new Promise<boolean>((decide) => {
          const one = { subscription, account, decide };
          if (canStart(one)) start(one);
          else waiting.push(one);
        });
        if (!starts) return false;
        let answered: Answered;
        try {
          answered = await attempt();
          const { succeeded } = answered;
          // One that is switched off got no attempt.
          subscription.failing = recipient.active && !succeeded;
          subscription.successes = succeeded ? subscription.successes + 1 : 0;
        } finally {
          subscription.attempts -= 1;
          account.attempts -= 1;
          if (subscription.failing) giveUpPlaces(subscription);
          startWaiting();
        }
        await answered.finish();
        return true;
      } finally {
        leave();
      }
    },
    isHalfFree(recipient) {
      const { room, share } = roomFor(recipient);
      return 2 * room >= share;
    },
  };
}
