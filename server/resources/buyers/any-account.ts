// For operators, who know only the ID. Handlers cannot import this.
import { inAnyAccount } from '../../kit/database/across-accounts.ts';
import type { Db } from '../../kit/database/database.ts';

/** Also one that is erased. */
export const findBuyerOfAnyAccount = inAnyAccount('buyers', (db: Db, account, id) =>
  db
    .selectFrom('buyers')
    .selectAll()
    .where('merchant_account_id', '=', account)
    .where('id', '=', id)
    .executeTakeFirst(),
);
