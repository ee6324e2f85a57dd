import type { Handler, Result } from '../../generated/operations.ts';
import { cursorBinding, pageCursors, readCursor } from '../domain/cursor.ts';
import { maskedPassword, presentSubscription } from '../present/webhook-subscription.ts';
import { accountsOf, selectionKey, type Deps } from './deps.ts';

export const listWebhookSubscriptions: Handler<'listWebhookSubscriptions', Deps> = async (
  { query },
  deps,
): Promise<Result<'listWebhookSubscriptions'>> => {
  const { store, cursors, vault, now } = deps;
  const boundTo = cursorBinding('listWebhookSubscriptions', selectionKey(deps), query);
  const cursor = readCursor(cursors, query.cursor, boundTo);
  const page = await store.listWebhookSubscriptionPage(accountsOf(deps), { limit: query.limit, cursor });
  const items = page.rows.map((row) =>
    presentSubscription(row, vault.open(row.secret_sealed, 'webhook'), maskedPassword, now()),
  );
  return { status: 200, body: { items, limit: query.limit, ...pageCursors(cursors, page, boundTo) } };
};
