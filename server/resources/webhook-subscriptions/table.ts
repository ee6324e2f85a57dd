import type { Generated } from 'kysely';
import type { components } from '../../../generated/types.ts';
import type { MaybeStamp, Shown, ShownColumns, Stamp } from '../../database/columns.ts';

type Subscription = components['schemas']['WebhookSubscription'];

export const webhookSubscriptionColumns = {
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

declare module '../../database/tables.ts' {
  interface Tables {
    webhook_subscriptions: WebhookSubscriptionsTable;
  }
}
