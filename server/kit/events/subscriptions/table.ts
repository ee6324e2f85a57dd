import type { Generated, Selectable } from 'kysely';
import type { components } from '../../../../generated/types.ts';
import {
  presentColumns,
  type MaybeStamp,
  type Shown,
  type ShownColumns,
  type Stamp,
} from '../../database/columns.ts';

type Subscription = components['schemas']['WebhookSubscription'];

const webhookSubscriptionColumns = {
  id: 'uuid',
  merchant_account_id: 'text',
  active: 'boolean',
  url: 'text',
} as const satisfies Shown<Subscription, 'type' | 'authentication' | 'secret' | 'rotating'>;

export interface WebhookSubscriptionsTable extends ShownColumns<
  typeof webhookSubscriptionColumns,
  Subscription,
  'id'
> {
  username: string | null;
  password_sealed: string | null;
  secret_sealed: string;
  old_secret_sealed: Generated<string | null>;
  old_secret_until: MaybeStamp;
  failing_since: MaybeStamp;
  created_at: Stamp;
  updated_at: Stamp;
}

export type WebhookSubscriptionRow = Selectable<WebhookSubscriptionsTable>;

declare module '../../database/tables.ts' {
  interface Tables {
    webhook_subscriptions: WebhookSubscriptionsTable;
  }
}

/** The caller knows the password, and answers end up in logs. */
const maskedPassword = '********';

const shown = presentColumns<Subscription>()(webhookSubscriptionColumns);

/** The caller decides whether `secret` is shown. */
export function presentSubscription(
  row: WebhookSubscriptionRow,
  secret: string | null,
  rotating: boolean,
): Subscription {
  return {
    type: 'webhook-subscription',
    ...shown(row),
    authentication:
      row.username === null ? null : { kind: 'basic', username: row.username, password: maskedPassword },
    secret,
    rotating,
  };
}
