// Whoever adds a column that can hold text must decide whether it is erased with the buyer.
import { expect, it } from 'vitest';
import { openDatabase } from '../../server/store/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { erased, erasedInPart, notOfBuyers } from '../support/erasure-columns.ts';

/** All but those whose type cannot hold text. */
const textColumns = `
  select table_name || '.' || column_name as name from information_schema.columns
  join information_schema.tables using (table_schema, table_name)
  where table_schema = 'public' and table_type = 'BASE TABLE' and column_name <> 'merchant_account_id'
    and udt_name not in ('uuid', '_uuid', 'bool', 'int2', 'int4', 'int8', 'timestamptz', 'timestamp', 'interval')
  order by 1`;

const list = 'test/support/erasure-columns.ts';
const add =
  `Add each column to ${list}: to "erased" if it may say something about a buyer, and erase it in ` +
  'server/store/erasure.ts; otherwise to "notOfBuyers"';

it('every column that can hold text is known to hold personal data, or not to', async () => {
  const database = openDatabase(await createTestDatabase(), () => undefined);
  const { rows } = await database.pool.query<{ name: string }>(textColumns);
  await database.close();
  const present = rows.map(({ name }) => name);
  const known = [erased, erasedInPart, notOfBuyers].flatMap((tables: Record<string, string[]>) =>
    Object.entries(tables).flatMap(([table, columns]) => columns.map((column) => `${table}.${column}`)),
  );
  expect(
    present.filter((name) => !known.includes(name)),
    add,
  ).toEqual([]);
  expect(
    known.filter((name) => !present.includes(name)),
    `No table has these columns. Remove them from ${list}`,
  ).toEqual([]);
});
