import type { Db } from './database.ts';

/** Account IDs that a caller reaches; an empty list of its own means all. */
const reachable = (db: Db, own: readonly string[]) => {
  const query = db.selectFrom('merchant_accounts').select('id');
  return own.length === 0 ? query : query.where('id', 'in', own);
};

export const firstAccount = (db: Db, own: readonly string[]) =>
  reachable(db, own).orderBy('created_at').orderBy('id').limit(1).executeTakeFirst();

export const findAccount = (db: Db, own: readonly string[], id: string) =>
  reachable(db, own).where('id', '=', id).executeTakeFirst();

export const listAccounts = (db: Db) =>
  db.selectFrom('merchant_accounts').selectAll().orderBy('created_at').orderBy('id').execute();

/** Undefined when the ID is taken. */
export const createAccount = (db: Db, account: { id: string; display_name: string; created_at?: Date }) =>
  db
    .insertInto('merchant_accounts')
    .values({ over_capture_percentage: null, ...account })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returningAll()
    .executeTakeFirst();
