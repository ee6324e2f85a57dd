import type { Handler, Result } from '../../generated/operations.ts';
import { maskedPassword, presentSubscription } from '../present/webhook-subscription.ts';
import { listWebhookSubscriptionPage } from '../store/webhook-subscriptions.ts';
import type { Deps } from './deps.ts';
import { accountsOf, readPage } from './page.ts';

export const listWebhookSubscriptions: Handler<'listWebhookSubscriptions', Deps> = async (
  { query },
  deps,
): Promise<Result<'listWebhookSubscriptions'>> => {
  const { db, vault, now, mayCall } = deps;
  const { rows, envelope } = await readPage('listWebhookSubscriptions', query, deps, (page) =>
    listWebhookSubscriptionPage(db, accountsOf(deps), page),
  );
  // Who has the secret can forge events, so a token that may only read does not see it.
  const seesSecrets = mayCall('createWebhookSubscription');
  const items = rows.map((row) => {
    const secret = seesSecrets ? vault.open(row.secret_sealed, 'webhook') : null;
    return presentSubscription(row, secret, maskedPassword, now());
  });
  return { status: 200, body: { items, ...envelope } };
};
