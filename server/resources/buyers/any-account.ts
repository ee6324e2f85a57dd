// For operators, who know only the ID. Handlers cannot import this.
import { findAccountOf } from '../../kit/database/across-accounts.ts';
import type { Db } from '../../kit/database/database.ts';
import type { BuyerRow } from './table.ts';

/** Also one that is erased. */
export async function findBuyerOfAnyAccount(db: Db, id: string): Promise<BuyerRow | undefined> {
  const account = await findAccountOf(db, 'buyers', id);
  if (account === undefined) return undefined;
  return db
    .selectFrom('buyers')
    .selectAll()
    .where('merchant_account_id', '=', account)
    .where('id', '=', id)
    .executeTakeFirst();
}
