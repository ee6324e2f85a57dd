import { sql } from 'kysely';
import type { Work } from '../../database/unit-of-work.ts';
import type { AllFacts } from '../../maintenance/facts.ts';
import { madeUnlessTaken } from '../../rules/outcomes.ts';
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
export async function deleteAccount(
  { db }: Work,
  id: string,
  facts: AllFacts,
): Promise<{ kind: 'deleted' | 'used' }> {
  const owned = Object.keys(facts).filter((table) => facts[table]?.isByAccount);
  for (const table of ['webhook_subscriptions', 'api_key_pair_merchant_accounts', ...owned]) {
    const { rows } =
      await sql`select from ${sql.table(table)} where merchant_account_id = ${id} limit 1`.execute(db);
    if (rows.length > 0) return { kind: 'used' };
  }
  const { numDeletedRows } = await db
    .deleteFrom('merchant_accounts')
    .where('id', '=', id)
    .where('key_sealed', 'is', null)
    .executeTakeFirst();
  return { kind: numDeletedRows > 0n ? 'deleted' : 'used' };
}
