import type { Work } from '../../kit/database/unit-of-work.ts';
import { madeUnlessTaken } from '../../kit/rules/outcomes.ts';
import { shownAccountColumns } from './table.ts';

export async function createAccount(
  { db }: Work,
  account: { id: string; display_name: string; created_at?: Date },
) {
  const made = await db
    .insertInto('merchant_accounts')
    .values({ over_capture_percentage: null, ...account })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning(shownAccountColumns)
    .executeTakeFirst();
  return madeUnlessTaken(made);
}

/**
 * `used`: something belongs to it, or its key was used. Processes remember keys, and an account of the same ID would get another one.
 * Foreign keys refuse what another transaction adds meanwhile. The caller knows that there is such an account.
 */
export async function deleteAccount({ db }: Work, id: string): Promise<{ kind: 'deleted' | 'used' }> {
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
    if (found) return { kind: 'used' };
  }
  const { numDeletedRows } = await db
    .deleteFrom('merchant_accounts')
    .where('id', '=', id)
    .where('key_sealed', 'is', null)
    .executeTakeFirst();
  return { kind: numDeletedRows > 0n ? 'deleted' : 'used' };
}
