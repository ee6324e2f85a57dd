import { sql } from 'kysely';
import type { Tables } from '../../database/tables.ts';
import type { Work } from '../../database/unit-of-work.ts';
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

const ownedTables = ['webhook_subscriptions', 'events', 'api_key_pair_merchant_accounts'] as const;

/**
 * `used`: something in one of these tables, or of the kit's, belongs to it, or its key was used. Processes remember keys, and an account of the same ID would get another one.
 * Foreign keys refuse what another transaction adds meanwhile. The caller knows that there is such an account.
 */
export async function deleteAccount(
  { db }: Work,
  id: string,
  tables: readonly (keyof Tables)[],
): Promise<{ kind: 'deleted' | 'used' }> {
  for (const table of [...ownedTables, ...tables]) {
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
