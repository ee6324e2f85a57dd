import type { Handler, Result } from '../kit/contract/handler-types.ts';
import { listWebhookSubscriptionPage } from '../kit/events/subscriptions/queries.ts';
import { presentSubscription } from '../kit/events/subscriptions/table.ts';
import { accountsOf, readPage, type Deps } from './deps.ts';

export const listWebhookSubscriptions: Handler<'listWebhookSubscriptions', Deps> = async (
  { query },
  deps,
): Promise<Result<'listWebhookSubscriptions'>> => {
  const { db, vault, mayCall } = deps;
  // Whoever has the secret can forge events, so a token that may only read does not see it.
  const showsSecret = mayCall('createWebhookSubscription');
  const { rows, envelope } = await readPage('listWebhookSubscriptions', query, deps, (page) =>
    listWebhookSubscriptionPage(db, accountsOf(deps), page),
  );
  const items = rows.map((row) => {
    const { id, merchant_account_id: owner } = row;
    const secret = showsSecret
      ? vault.open(row.secret_sealed, { purpose: 'webhook-secret', owner, id })
      : null;
    return presentSubscription(row, secret, row.isRotating);
  });
  return { status: 200, body: { items, ...envelope } };
};
