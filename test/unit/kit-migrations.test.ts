// The kit's migrations are those of payments without the tables of payments: what is released cannot be split, so it is there twice.
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { expect, it } from 'vitest';
import type { Migrations } from '../../server/kit/database/migrate.ts';
import { kitMigrations } from '../../server/kit/migrations/index.ts';
import { migrations } from '../../server/migrations/index.ts';

/** Without comments, which may differ. */
async function statementsOf(given: Migrations['migrations']): Promise<string[]> {
  const statements: string[] = [];
  const db = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (one) => new PostgresIntrospector(one),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => {
      statements.push(query.sql.replace(/--.*$/gm, '').replace(/\s+/g, ' ').trim());
    },
  });
  for (const name of Object.keys(given).sort()) await given[name]?.up(db);
  return statements;
}

it('each statement stands in the released migrations, in the same order, and only those of payments are left out', async () => {
  const kit = await statementsOf(kitMigrations);
  const rest = await statementsOf(migrations);
  const released = [...rest];
  const found = kit.map((statement) => rest.splice(0, rest.indexOf(statement) + 1).at(-1));
  expect(found).toEqual(kit);
  const own = released.filter((statement) => !kit.includes(statement));
  expect(kit.length).toBeGreaterThan(40);
  expect(
    own.filter(
      (one) => !/buyers|payment_methods|gift_cards|transactions|card_numbers|number_buckets/.test(one),
    ),
  ).toEqual([]);
});
