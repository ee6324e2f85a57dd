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

export const listWebhookSubscriptions = (db: Db) =>
  db
    .selectFrom('webhook_subscriptions')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();

/**
 * A new secret signs from now on; the old one beside it until `until`. There is room for one old secret: while one is still
 * valid nothing is changed, unless no old one is to be kept. Undefined then, or when there is no such subscription.
 */
export const rotateSecret = (db: Db, id: string, secret_sealed: string, until: Date, now = new Date()) =>
  db
    .updateTable('webhook_subscriptions')
    .set((row) => ({
      old_secret_sealed: row.ref('secret_sealed'),
      old_secret_until: until,
      secret_sealed,
      updated_at: now,
    }))
    .where('id', '=', id)
    .where((row) =>
      row.or([
        row('old_secret_until', 'is', null),
        row('old_secret_until', '<=', now),
        row.lit(until <= now),
      ]),
    )
    .returningAll()
    .executeTakeFirst();

/** Switched on, it has its five days anew. False when there is no such subscription. */
export async function setActive(db: Db, id: string, active: boolean): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_subscriptions')
    .set({ active, failing_since: null, updated_at: new Date() })
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** False when there is no such subscription. */
export async function deleteWebhookSubscription(db: Db, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('webhook_subscriptions')
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
