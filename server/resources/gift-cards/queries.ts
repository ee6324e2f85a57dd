import type { Insertable, Selectable } from 'kysely';
import type { Db, Tx } from '../../database/database.ts';
import type { GiftCardsTable } from './table.ts';

type GiftCardRow = Selectable<GiftCardsTable>;

export const findGiftCards = (db: Db, account: string, ids: readonly string[]): Promise<GiftCardRow[]> =>
  ids.length === 0
    ? Promise.resolve([])
    : db
        .selectFrom('gift_cards')
        .selectAll()
        .where('merchant_account_id', '=', account)
        .where('id', 'in', ids)
        .execute();

/** Undefined when the ID is taken. */
export const insertGiftCard = (db: Tx, card: Insertable<GiftCardsTable>) =>
  db
    .insertInto('gift_cards')
    .values(card)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();

export const listGiftCards = (db: Db, account: string, limit: number) =>
  db
    .selectFrom('gift_cards')
    .selectAll()
    .where('merchant_account_id', '=', account)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
