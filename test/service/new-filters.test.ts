// `npm run new -- filter NAME`: for every property that it offers, the index that it writes fits the column.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newFilter, offeredFilters } from '../../scripts/new/filter.ts';
import { projectAt } from '../../scripts/new/project.ts';
import { root } from '../../scripts/support/root.ts';
import { openDatabase, type Database } from '../../server/store/database.ts';
import { createTestDatabase } from '../support/database.ts';

const project = projectAt(root);
const offered = Object.keys(await offeredFilters(project));
let database: Database;
beforeAll(async () => {
  database = openDatabase(await createTestDatabase(), (error) => {
    throw error;
  });
});
afterAll(() => database.close());

it('are offered for properties without a filter, but not for the merchant account, which has a header', () => {
  expect(offered).toEqual(expect.arrayContaining(['country', 'intent', 'settled']));
  expect(offered).not.toContain('merchant_account_id');
});

it.each(offered)(
  '%s: the index can be built, and leaves out null only where there can be one',
  async (name) => {
    const { write } = await newFilter(project, name);
    const migration = Object.entries(write).find(([file]) => file.includes('migrations'))?.[1] ?? '';
    const on = /on: '(.+)'/.exec(migration)?.[1] ?? '';
    await sql.raw(`create index on transactions ${on}`).execute(database.db);
    const { rows } = await sql<{ nullable: boolean }>`
    select is_nullable = 'YES' as nullable from information_schema.columns
    where table_name = 'transactions' and column_name = ${name}`.execute(database.db);
    expect(on.includes('is not null')).toBe(rows[0]?.nullable);
  },
);

it('says that examples with another value are missing, where all have the same', async () => {
  const stepsOf = async (name: string) => (await newFilter(project, name)).next.join('\n');
  expect(await stepsOf('intent')).toContain('All examples of transactions have intent=authorize');
  for (const name of ['country', 'settled']) expect(await stepsOf(name)).not.toContain('All examples');
});
