// The kit's migrations are those of payments without the tables of payments: what is released cannot be split, so it is there twice.
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { expect, it } from 'vitest';
import { loadMigrations } from '../../server/domain.ts';
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

it('each statement stands in the released migration that contains its own, in the same order', async () => {
  const { contained } = await loadMigrations();
  expect(Object.keys(contained)).toEqual(Object.keys(kitMigrations));
  const left: string[] = [];
  let compared = 0;
  // Later ones are of payments alone.
  const last = Object.values(contained).sort().at(-1) ?? '';
  for (const [name, migration] of Object.entries(migrations).filter(([one]) => one <= last)) {
    const [own] = Object.entries(contained).find(([, one]) => one === name) ?? [];
    const kit = own === undefined ? [] : await statementsOf({ [own]: kitMigrations[own] ?? migration });
    const rest = await statementsOf({ [name]: migration });
    left.push(...rest.filter((statement) => !kit.includes(statement)));
    const found = kit.map((statement) => rest.splice(0, rest.indexOf(statement) + 1).at(-1));
    expect(found, name).toEqual(kit);
    compared += kit.length;
  }
  expect(compared).toBeGreaterThan(40);
  // Only those of payments are left out.
  const ofPayments =
    /buyers|payment_methods|gift_cards|transactions|card_numbers|number_buckets|^set local lock_timeout/;
  expect(left.filter((one) => !ofPayments.test(one))).toEqual([]);
});
