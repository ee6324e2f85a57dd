import type { Db } from '../../kit/database/database.ts';

export const findGiftCards = (db: Db, account: string, ids: readonly string[]) =>
  ids.length === 0
    ? Promise.resolve([])
    : db
        .selectFrom('gift_cards')
        .selectAll()
        .where('merchant_account_id', '=', account)
        .where('id', 'in', ids)
        .execute();

export const listGiftCards = (db: Db, account: string, limit: number) =>
  db
    .selectFrom('gift_cards')
    .selectAll()
    .where('merchant_account_id', '=', account)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
