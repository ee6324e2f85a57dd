// The merchant account is the first part of the keys of what belongs to one: docs/decisions/0018-account-first.md.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { root } from '../../scripts/support/root.ts';
import { openDatabase, type Database } from '../../server/kit/database/database.ts';
import { createTestDatabase } from '../support/database.ts';

const accountTables = inject('accountTables');

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

const keyMissing = (tables: string[]) =>
  `These tables have a merchant account, so their primary key must begin with merchant_account_id: ${tables.join(', ')}. ` +
  'See "A table" in docs/guides/backend-engineer.md. If their records belong to several accounts or to none, add them to ' +
  'globalTables in test/support/account-statements.ts';

describe('in the database', () => {
  it('every primary key of what belongs to an account begins with the account', async () => {
    const keys = (await listKeys()).filter(({ type }) => type === 'p');
    const wrong = accountTables.filter(
      (name) => keys.find(({ table }) => table === name)?.columns[0] !== 'merchant_account_id',
    );
    expect(accountTables).toEqual(expect.arrayContaining(['buyers', 'transactions', 'idempotency_keys']));
    expect(wrong, keyMissing(wrong)).toEqual([]);
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
    expect(unique.map(({ table }) => table)).toEqual(
      expect.arrayContaining(['buyers', 'gift_cards', 'payment_methods', 'transactions']),
    );
  });

  // Functions that stand in for those of Citus. The last test, because the script also drops what Citus does not have.
  it('scripts/citus.sql distributes every table of accounts', async () => {
    const { query } = database;
    await query(`create table called (kind text, name text);
      create function create_reference_table(id regclass) returns void
        begin atomic insert into called values ('copied', id::text); end;
      create function create_distributed_table(id regclass, by text, colocate_with text) returns void
        begin atomic insert into called values ('by ' || by || ' with ' || colocate_with, id::text); end`);
    const keys = await listKeys();
    await query(await readFile(join(root, 'scripts/citus.sql'), 'utf8'));
    const { rows } = await query<{ kind: string; name: string }>('select kind, name from called');
    const namesOf = (kind: string) => rows.filter((row) => row.kind === kind).map(({ name }) => name);
    expect(namesOf('by merchant_account_id with none')).toEqual(['buyers']);
    expect(['buyers', ...namesOf('by merchant_account_id with buyers')].toSorted()).toEqual(
      accountTables.toSorted(),
    );
    const isForeign = ({ type }: Key) => type === 'f';
    expect((await listKeys()).filter(isForeign)).toHaveLength(keys.filter(isForeign).length);
  });
});
