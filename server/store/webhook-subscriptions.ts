import { sql, type Insertable, type Selectable } from 'kysely';
import type { Cursor } from '../domain/cursor.ts';
import type { Db, Tx } from './database.ts';
import { fetchPage } from './paging.ts';
import type { WebhookSubscriptionsTable } from './tables/webhook-subscriptions.ts';

export type WebhookSubscriptionRow = Selectable<WebhookSubscriptionsTable>;

export const insertWebhookSubscription = (db: Tx, subscription: Insertable<WebhookSubscriptionsTable>) =>
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

/** Of one account, or (with null) of those for all accounts. */
export async function countWebhookSubscriptions(
  db: Db,
  account: string | null,
): Promise<{ active: number; all: number }> {
  const { rows } = await sql<{ active: number; all: number }>`
    select count(*) filter (where active)::integer as active, count(*)::integer as all
    from webhook_subscriptions
    where merchant_account_id is not distinct from ${account}`.execute(db);
  return rows[0] ?? { active: 0, all: 0 };
}

/** Undefined when there is no such subscription. */
export const findWebhookSubscription = (db: Db, id: string) =>
  db.selectFrom('webhook_subscriptions').selectAll().where('id', '=', id).executeTakeFirst();

export const listWebhookSubscriptions = (db: Db) =>
  db
    .selectFrom('webhook_subscriptions')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();

/**
 * The new secret signs from now on, the old one beside it until `until`. Only one old secret is kept: while one is still
 * valid nothing changes, unless the rotation keeps none. Undefined then, or when there is no such subscription.
 */
export const rotateSecret = (db: Tx, id: string, secret_sealed: string, until: Date, now: Date) =>
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

/** Resets the five days of failure after which it is switched off. False when there is no such subscription. */
export async function setActive(db: Tx, id: string, active: boolean, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_subscriptions')
    .set({ active, failing_since: null, updated_at: now })
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** False when there is no such subscription. */
export async function deleteWebhookSubscription(db: Tx, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('webhook_subscriptions')
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
