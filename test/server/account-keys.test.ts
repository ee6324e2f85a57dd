// The merchant account is the first part of the keys of what belongs to one: docs/decisions/0018-account-first.md.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../server/store/database.ts';
import { findBuyerById } from '../../server/store/buyers.ts';
import { accountTables, notYet } from '../support/account-statements.ts';
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
    where connamespace = 'public'::regnamespace and contype in ('p', 'f', 'u') and convalidated`.execute(
    database.db,
  );
  return rows;
}

describe('in the database', () => {
  it('every table with a merchant account is on a list', async () => {
    const { rows } = await sql<{ name: string }>`
      select table_name::text as name from information_schema.columns
      where table_schema = 'public' and column_name = 'merchant_account_id'`.execute(database.db);
    const known = [...accountTables, ...notYet, ...globalTables];
    expect(rows.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
  });

  const primaryKeys = async (tables: readonly string[]) =>
    (await listKeys())
      .filter(({ table, type }) => type === 'p' && tables.includes(table))
      .map(({ table, columns }) => [table, columns[0]]);

  it('every primary key of what belongs to an account begins with the account', async () => {
    const keys = await primaryKeys(accountTables);
    expect(keys.sort()).toEqual(accountTables.map((table) => [table, 'merchant_account_id']).sort());
  });

  it('every foreign key between such tables begins with the account on both sides', async () => {
    const tables = [...accountTables, ...notYet];
    const keys = (await listKeys()).filter(
      ({ table, type, target }) => type === 'f' && tables.includes(table) && tables.includes(target ?? ''),
    );
    const wrong = keys.filter(
      ({ table, columns, targetColumns }) =>
        !notYet.includes(table) &&
        (columns[0] !== 'merchant_account_id' || targetColumns[0] !== 'merchant_account_id'),
    );
    expect(keys.map(({ table }) => table)).toContain('payment_methods');
    expect(wrong).toEqual([]);
  });

  it('IDs are unique over all accounts', async () => {
    const unique = (await listKeys()).filter(({ type, columns }) => type === 'u' && String(columns) === 'id');
    expect(unique.map(({ table }) => table).sort()).toEqual([
      'buyers',
      'gift_cards',
      'payment_methods',
      'transactions',
    ]);
  });

  it('the list of tables without such a key has none that has one', async () => {
    for (const [table, first] of await primaryKeys(notYet))
      expect([table, first]).not.toEqual([table, 'merchant_account_id']);
  });
});

describe('the recorder of statements', () => {
  it('sees what the service sends', async () => {
    const before = countSent();
    await findBuyerById(database.db, '356d56e5-fe16-42ae-97ee-8d55d846ae2e');
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
