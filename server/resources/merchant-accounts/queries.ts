import type { Db } from '../../database/database.ts';
import type { Accounts } from '../../rules/accounts.ts';
import { shownAccountColumns } from './table.ts';

const selectAccounts = (db: Db, own: Accounts) => {
  const query = db.selectFrom('merchant_accounts').select('id');
  return own === 'all' ? query : query.where('id', 'in', own.only);
};

export const findFirstAccount = (db: Db, own: Accounts) =>
  selectAccounts(db, own).orderBy('created_at').orderBy('id').limit(1).executeTakeFirst();

export const findAccount = (db: Db, own: Accounts, id: string) =>
  selectAccounts(db, own).where('id', '=', id).executeTakeFirst();

/** The accounts that exist. */
export const findAccounts = (db: Db, ids: readonly string[]) =>
  ids.length === 0 ? Promise.resolve([]) : selectAccounts(db, { only: ids }).execute();

export const listAccounts = (db: Db) =>
  db
    .selectFrom('merchant_accounts')
    .select(shownAccountColumns)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
