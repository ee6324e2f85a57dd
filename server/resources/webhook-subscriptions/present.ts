import type { components } from '../../../generated/types.ts';
import { presentColumns } from '../../database/columns.ts';
import type { WebhookSubscriptionRow } from './queries.ts';
import { webhookSubscriptionColumns } from './table.ts';

type Subscription = components['schemas']['WebhookSubscription'];

/** The caller knows the password, and answers end up in logs. */
const maskedPassword = '********';

const shown = presentColumns<
  WebhookSubscriptionRow,
  Pick<Subscription, keyof typeof webhookSubscriptionColumns>
>(webhookSubscriptionColumns);

/** The caller decides whether `secret` is shown. */
export function presentSubscription(
  row: WebhookSubscriptionRow,
  secret: string | null,
  now: Date,
): Subscription {
  return {
    type: 'webhook-subscription',
    ...shown(row),
    authentication:
      row.username === null ? null : { kind: 'basic', username: row.username, password: maskedPassword },
    secret,
    rotating: row.old_secret_until !== null && row.old_secret_until > now,
  };
}
