import type { Db, Tx } from '../../database/database.ts';
import { merchantAccountColumns } from './table.ts';

const shown = Object.keys(merchantAccountColumns) as (keyof typeof merchantAccountColumns)[];

/** The accounts that a key pair has access to; an empty `own` means all. */
const withinReach = (db: Db, own: readonly string[]) => {
  const query = db.selectFrom('merchant_accounts').select('id');
  return own.length === 0 ? query : query.where('id', 'in', own);
};

export const findFirstAccount = (db: Db, own: readonly string[]) =>
  withinReach(db, own).orderBy('created_at').orderBy('id').limit(1).executeTakeFirst();

export const findAccount = (db: Db, own: readonly string[], id: string) =>
  withinReach(db, own).where('id', '=', id).executeTakeFirst();

/** Those of these that exist. */
export const findAccounts = (db: Db, ids: readonly string[]) =>
  ids.length === 0 ? Promise.resolve([]) : withinReach(db, ids).execute();

export const listAccounts = (db: Db) =>
  db.selectFrom('merchant_accounts').select(shown).orderBy('created_at').orderBy('id').execute();

/** Undefined when the ID is taken. */
export const insertAccount = (db: Tx, account: { id: string; display_name: string; created_at?: Date }) =>
  db
    .insertInto('merchant_accounts')
    .values({ over_capture_percentage: null, ...account })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning(shown)
    .executeTakeFirst();

/**
 * False when something belongs to it, or its key was used: processes remember keys, and an account of the same ID would get
 * another one. Foreign keys refuse what another transaction adds meanwhile.
 */
export async function deleteEmptyAccount(db: Tx, id: string): Promise<boolean> {
  for (const table of [
    ...([
      'buyers',
      'payment_methods',
      'gift_cards',
      'transactions',
      'webhook_subscriptions',
      'events',
    ] as const),
    ...(['api_key_pair_merchant_accounts'] as const),
  ]) {
    const found = await db
      .selectFrom(table)
      .select('merchant_account_id')
      .where('merchant_account_id', '=', id)
      .limit(1)
      .executeTakeFirst();
    if (found) return false;
  }
  const { numDeletedRows } = await db
    .deleteFrom('merchant_accounts')
    .where('id', '=', id)
    .where('key_sealed', 'is', null)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
