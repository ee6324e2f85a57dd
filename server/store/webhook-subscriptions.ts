import type { Insertable, Selectable } from 'kysely';
import type { Cursor } from '../domain/cursor.ts';
import type { Db } from './database.ts';
import { fetchPage } from './paging.ts';
import type { WebhookSubscriptionsTable } from './schema.ts';

export type WebhookSubscriptionRow = Selectable<WebhookSubscriptionsTable>;

export const createWebhookSubscription = (db: Db, subscription: Insertable<WebhookSubscriptionsTable>) =>
  db.insertInto('webhook_subscriptions').values(subscription).returningAll().executeTakeFirstOrThrow();

/** Of one account, of some, or (with undefined) of all, those for all accounts included. */
export function listWebhookSubscriptionPage(
  db: Db,
  accounts: readonly string[] | undefined,
  page: { limit: number; cursor: Cursor | undefined },
) {
  const all = db.selectFrom('webhook_subscriptions').selectAll('webhook_subscriptions');
  const wanted = accounts === undefined ? all : all.where('merchant_account_id', 'in', accounts);
  return fetchPage(wanted, 'webhook_subscriptions', page);
}
