// The facts of the kit's tables. They follow those of the domain in its list: a rotation reseals the keys of digests last, by which the
// next one knows that it was interrupted.
import { merchantAccounts } from './access/accounts/facts.ts';
import { apiKeyPairMerchantAccounts, apiKeyPairRoles, apiKeyPairs } from './access/key-pairs/facts.ts';
import { roles } from './access/roles/facts.ts';
import { rateLimits, settings } from './database/facts.ts';
import { deliveries, deliveryAttempts, events } from './events/facts.ts';
import { webhookSubscriptions } from './events/subscriptions/facts.ts';
import { idempotencyKeys } from './idempotency/facts.ts';
import { auditEntries } from './maintenance/audit.ts';

export const kitFacts = {
  deliveries,
  delivery_attempts: deliveryAttempts,
  events,
  audit_entries: auditEntries,
  webhook_subscriptions: webhookSubscriptions,
  idempotency_keys: idempotencyKeys,
  rate_limits: rateLimits,
  api_key_pairs: apiKeyPairs,
  api_key_pair_roles: apiKeyPairRoles,
  api_key_pair_merchant_accounts: apiKeyPairMerchantAccounts,
  roles,
  merchant_accounts: merchantAccounts,
  settings,
} as const;
