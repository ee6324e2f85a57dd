import type { Work } from '../../database/unit-of-work.ts';
import { shownAccountColumns } from './table.ts';

/** Undefined when the ID is taken. */
export const createAccount = (
  { db }: Work,
  account: { id: string; display_name: string; created_at?: Date },
) =>
  db
    .insertInto('merchant_accounts')
    .values({ over_capture_percentage: null, ...account })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning(shownAccountColumns)
    .executeTakeFirst();

/**
 * False when something belongs to it, or its key was used: processes remember keys, and an account of the same ID would get
 * another one. Foreign keys refuse what another transaction adds meanwhile.
 */
export async function deleteAccount({ db }: Work, id: string): Promise<boolean> {
  for (const table of [
    'buyers',
    'payment_methods',
    'gift_cards',
    'transactions',
    'webhook_subscriptions',
    'events',
    'api_key_pair_merchant_accounts',
  ] as const) {
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
