import { plain, type Facts } from '../../maintenance/facts.ts';

export const webhookSubscriptions = {
  ...plain,
  key: { id: 'uuid' },
  // One without an account is for all of them.
  isByAccount: false,
  sealed: {
    password_sealed: 'webhook-password',
    secret_sealed: 'webhook-secret',
    old_secret_sealed: 'webhook-secret',
  },
} as const satisfies Facts<'webhook_subscriptions'>;
