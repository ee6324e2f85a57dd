// The compiler compares the facts of tables with the types of their rows. It knows neither the database nor the guide.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { facts, sealedColumns } from '../../server/resources/facts.ts';
import { createTestDatabase, openTestDatabase } from '../support/database.ts';
import { root } from '../support/processes.ts';

const { db, close } = openTestDatabase(await createTestDatabase('furnished'));
afterAll(close);

interface FactsOfTable {
  erasure: 'kept' | 'deleted' | Readonly<Record<string, unknown>>;
}
const all = Object.entries<FactsOfTable>(facts);

it('the database has these tables and columns, and seals no others', async () => {
  const { rows } = await sql<{ table: string; columns: string[] }>`
    select table_name as table, array_agg(column_name::text order by column_name) as columns
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and table_type = 'BASE TABLE'
      and not (select relispartition from pg_class where oid = format('%I.%I', table_schema, table_name)::regclass)
    group by 1`.execute(db);
  const columnsOf = new Map(rows.map(({ table, columns }) => [table, columns]));
  // The names of migrations, which have no facts.
  columnsOf.delete('applied_migrations');
  expect([...columnsOf.keys()].sort()).toEqual(all.map(([table]) => table).sort());
  // Of a transaction the record is erased, from which its columns follow.
  for (const [table, { erasure }] of all)
    if (typeof erasure === 'object' && table !== 'transactions')
      expect(columnsOf.get(table), table).toEqual(Object.keys(erasure).sort());
  const sealed = sealedColumns.map(({ value }) => value.compile(db).sql.replaceAll('"', ''));
  const named = [...columnsOf].flatMap(([table, columns]) =>
    columns.filter((column) => column.includes('sealed')).map((column) => `${table}.${column}`),
  );
  expect(named.filter((name) => !sealed.includes(name))).toEqual([]);
});

it('docs/guides/personal-data.md says what is erased', async () => {
  const guide = await readFile(join(root, 'docs/guides/personal-data.md'), 'utf8');
  const [, section = ''] = /\n## What is erased, by column\n([^]*?)\n## /.exec(guide) ?? [];
  const written = [...section.matchAll(/^\| `.*$/gm)].map(([line]) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const list = (names: string[]) => names.map((name) => `\`${name}\``).join(', ');
  const rows = all.flatMap(([table, { erasure }]) => {
    if (erasure === 'kept') return [];
    if (erasure === 'deleted') return [[list([table]), 'whole rows', '']];
    const named = (kind: string) =>
      list(Object.keys(erasure).filter((name) => [erasure[name], typeof erasure[name]].includes(kind)));
    const row = [named('erased'), named('function')];
    return row.join('') === '' ? [] : [[list([table]), ...row]];
  });
  expect(written).toEqual(rows);
});
