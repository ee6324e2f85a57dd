import type { Selectable } from 'kysely';
import { findAccountOf } from './across-accounts.ts';
import type { Db, Tx } from './database.ts';
import type { BuyersTable } from './tables/buyers.ts';

export type BuyerRow = Selectable<BuyersTable>;

/**
 * Finds a buyer of a merchant account by one of its two identifiers. An erased one is not found. Until the transaction ends
 * the buyer cannot be erased, so that nothing is stored for it behind the back of `payments buyers erase`.
 */
export const findBuyer = (db: Tx, account: string, by: { id: string } | { external_identifier: string }) => {
  const query = db
    .selectFrom('buyers')
    .selectAll()
    .where('merchant_account_id', '=', account)
    .where('erased_at', 'is', null)
    .forShare();
  return (
    'id' in by
      ? query.where('id', '=', by.id)
      : query.where('external_identifier', '=', by.external_identifier)
  ).executeTakeFirst();
};

/** Also one that is erased. */
export async function findBuyerById(db: Db, id: string): Promise<BuyerRow | undefined> {
  const account = await findAccountOf(db, 'buyers', id);
  if (account === undefined) return undefined;
  return db
    .selectFrom('buyers')
    .selectAll()
    .where('merchant_account_id', '=', account)
    .where('id', '=', id)
    .executeTakeFirst();
}

export const listBuyers = (db: Db, account: string) =>
  db
    .selectFrom('buyers')
    .selectAll()
    .where('merchant_account_id', '=', account)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();

export interface NewBuyer {
  id?: string;
  merchant_account_id: string;
  external_identifier: string | null;
  display_name: string | null;
  account_number: string | null;
  billing_details: object | null;
}

/** Undefined when the external identifier, or the ID, is taken. */
export const insertBuyer = (db: Tx, buyer: NewBuyer) =>
  db
    .insertInto('buyers')
    .values({ ...buyer, billing_details: buyer.billing_details && JSON.stringify(buyer.billing_details) })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
