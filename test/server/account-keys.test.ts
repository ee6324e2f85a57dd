// The merchant account is the first part of the keys of what belongs to one: docs/decisions/0018-account-first.md.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../server/store/database.ts';
import { findBuyerOfAnyAccount } from '../../server/store/buyers.ts';
import { accountTables } from '../support/account-statements.ts';
import { createTestDatabase } from '../support/database.ts';
import { countSent, takeFaults } from '../support/statements.ts';

/** They name accounts, and belong to none: their records may be for all accounts, or for several. */
const globalTables = ['api_key_pair_merchant_accounts', 'webhook_subscriptions'];

let database: Database;
beforeAll(async () => {
  database = openDatabase(await createTestDatabase(), (error) => {
    throw error;
  });
});
afterAll(() => database.close());

interface Key {
  table: string;
  type: 'p' | 'f' | 'u';
  columns: string[];
  target: string | null;
  targetColumns: string[];
}

async function listKeys(): Promise<Key[]> {
  const names = (of: string, numbers: string) =>
    sql.raw(`array(select attname::text from unnest(${numbers}) with ordinality as part (number, place)
      join pg_attribute on attrelid = ${of} and attnum = number order by place)`);
  const { rows } = await sql<Key>`
    select conrelid::regclass::text as table, contype as type, ${names('conrelid', 'conkey')} as columns,
      nullif(confrelid, 0)::regclass::text as target, ${names('confrelid', 'confkey')} as "targetColumns"
    from pg_constraint
    where connamespace = 'public'::regnamespace and contype in ('p', 'f', 'u') and convalidated
      and not (select relispartition from pg_class where pg_class.oid = conrelid)`.execute(database.db);
  return rows;
}

describe('in the database', () => {
  it('every table with a merchant account is on a list', async () => {
    const { rows } = await sql<{ name: string }>`
      select relname::text as name from pg_class join pg_attribute on attrelid = pg_class.oid
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        and attname = 'merchant_account_id' and not attisdropped`.execute(database.db);
    expect(rows.map(({ name }) => name).sort()).toEqual([...accountTables, ...globalTables].sort());
  });

  it('every primary key of what belongs to an account begins with the account', async () => {
    const keys = (await listKeys())
      .filter(({ table, type }) => type === 'p' && accountTables.includes(table))
      .map(({ table, columns }) => [table, columns[0]]);
    expect(keys.sort()).toEqual(accountTables.map((table) => [table, 'merchant_account_id']).sort());
  });

  it('every foreign key between such tables begins with the account on both sides', async () => {
    const keys = (await listKeys()).filter(
      ({ table, type, target }) =>
        type === 'f' && accountTables.includes(table) && accountTables.includes(target ?? ''),
    );
    const wrong = keys.filter(
      ({ columns, targetColumns }) =>
        columns[0] !== 'merchant_account_id' || targetColumns[0] !== 'merchant_account_id',
    );
    expect(keys.map(({ table }) => table)).toContain('payment_methods');
    expect(wrong).toEqual([]);
  });

  it('IDs are unique over all accounts', async () => {
    const unique = (await listKeys()).filter(({ type, columns }) => type === 'u' && String(columns) === 'id');
    expect(unique.map(({ table }) => table).sort()).toEqual([
      'buyers',
      'gift_cards',
      'idempotency_keys',
      'payment_methods',
      'transactions',
    ]);
  });
});

describe('the recorder of statements', () => {
  it('sees what the service sends', async () => {
    const before = countSent();
    await findBuyerOfAnyAccount(database.db, '356d56e5-fe16-42ae-97ee-8d55d846ae2e');
    expect(countSent()).toBe(before + 1);
    expect(takeFaults()).toEqual([]);
  });

  it('finds a statement of the service that does not name the account', async () => {
    await database.pool.query('select id from buyers where display_name = $1', ['x']);
    expect(takeFaults()).toEqual([
      'does not name the account of buyers: select id from buyers where display_name = $1',
    ]);
  });

  it('lets tests write what they want', async () => {
    await sql`select id from buyers`.execute(database.db);
    await database.db.selectFrom('buyers').select('display_name').execute();
    expect(takeFaults()).toEqual([]);
  });
});
