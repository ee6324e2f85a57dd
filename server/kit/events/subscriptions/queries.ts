import { sql, type Insertable } from 'kysely';
import { isAmong } from '../../database/across-accounts.ts';
import { notBack } from '../../database/columns.ts';
import type { Db, Tx } from '../../database/database.ts';
import { fetchPage } from '../../database/paging.ts';
import type { Accounts } from '../../rules/accounts.ts';
import type { Cursor } from '../../rules/cursor.ts';
import type { DatabaseTime } from '../../rules/database-time.ts';
import type { WebhookSubscriptionsTable } from './table.ts';

export const insertWebhookSubscription = (db: Tx, subscription: Insertable<WebhookSubscriptionsTable>) =>
  db.insertInto('webhook_subscriptions').values(subscription).returningAll().executeTakeFirstOrThrow();

/** Subscriptions of these accounts; for all accounts, also those that are not of one. */
export function listWebhookSubscriptionPage(
  db: Db,
  accounts: Accounts,
  page: { limit: number; cursor: Cursor | undefined },
) {
  const isRotating = sql<boolean>`old_secret_until is not null and old_secret_until > now()`;
  const all = db
    .selectFrom('webhook_subscriptions')
    .selectAll('webhook_subscriptions')
    .select(isRotating.as('isRotating'));
  if (accounts === 'all') return fetchPage(all, 'webhook_subscriptions', page);
  // Few accounts are found by their index. Of many, the newest of all are read until the page is full.
  const visible =
    accounts.only.length <= 20
      ? all.where('merchant_account_id', 'in', accounts.only)
      : all.where(isAmong(sql.ref('merchant_account_id'), accounts.only));
  return fetchPage(visible, 'webhook_subscriptions', page);
}

/** Counts the subscriptions of one account, or (with null) those for all accounts. */
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

export const findWebhookSubscription = (db: Db, id: string) =>
  db.selectFrom('webhook_subscriptions').selectAll().where('id', '=', id).executeTakeFirst();

export const listAllSubscriptions = (db: Db) =>
  db
    .selectFrom('webhook_subscriptions')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();

/**
 * Both the new and the old secret sign until `until`; if that is past, the old one is not kept, as it may not open. Undefined, without a change, when there is no such subscription or when
 * an older secret is still valid: only one old secret is kept, unless `until` is past.
 */
export const rotateSecret = (
  db: Tx,
  id: string,
  secret_sealed: string,
  until: DatabaseTime,
  now: DatabaseTime,
) =>
  db
    .updateTable('webhook_subscriptions')
    .set((row) => ({
      old_secret_sealed: until > now ? row.ref('secret_sealed') : null,
      old_secret_until: until > now ? until : null,
      secret_sealed,
      updated_at: notBack(now),
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
