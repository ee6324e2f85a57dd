import type { Handler, Result } from '../../generated/operations.ts';
import { maskedPassword, presentSubscription } from '../present/webhook-subscription.ts';
import { listWebhookSubscriptionPage } from '../store/webhook-subscriptions.ts';
import type { Deps } from './deps.ts';
import { accountsOf, readPage } from './page.ts';

export const listWebhookSubscriptions: Handler<'listWebhookSubscriptions', Deps> = async (
  { query },
  deps,
): Promise<Result<'listWebhookSubscriptions'>> => {
  const { db, vault, now } = deps;
  const { rows, envelope } = await readPage('listWebhookSubscriptions', query, deps, (page) =>
    listWebhookSubscriptionPage(db, accountsOf(deps), page),
  );
  const items = rows.map((row) =>
    presentSubscription(row, vault.open(row.secret_sealed, 'webhook'), maskedPassword, now()),
  );
  return { status: 200, body: { items, ...envelope } };
};
