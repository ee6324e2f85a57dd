import type { components } from '../../generated/types.ts';

type Subscription = components['schemas']['WebhookSubscription'];

export const maskedPassword = '********';

export interface SubscriptionRecord {
  id: string;
  merchant_account_id: string | null;
  active: boolean;
  url: string;
  username: string | null;
  old_secret_until: Date | null;
}

/** `secret` and `password` are given in the clear, or masked, by whoever may show them. */
export function presentSubscription(
  row: SubscriptionRecord,
  secret: string,
  password: string,
  now: Date,
): Subscription {
  return {
    type: 'webhook-subscription',
    id: row.id,
    merchant_account_id: row.merchant_account_id,
    active: row.active,
    url: row.url,
    authentication: row.username === null ? null : { kind: 'basic', username: row.username, password },
    secret,
    rotating: row.old_secret_until !== null && row.old_secret_until > now,
  };
}
