// What PostgreSQL keeps of the statements of a connection.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../server/kit/database/database.ts';
import { run } from '../../server/kit/database/execution.ts';
import { mostNamed } from '../../server/kit/database/named-statements.ts';
import { listTransactionPage } from '../../server/resources/transactions/list.ts';
import { createTestDatabase } from '../support/database.ts';

let database: Database;
beforeAll(async () => {
  database = openDatabase(await createTestDatabase(), () => undefined, { size: 1 });
  await sql`create table kept (id int primary key, name text)`.execute(database.db);
});
afterAll(() => database.close());

const kept = async () => {
  const { rows } = await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(
    database.db,
  );
  return rows.map(({ statement }) => statement);
};
const read = (id: number) => sql`select kept.* from kept where id = ${id}`.execute(database.db);

it('a statement that a connection runs again is kept, one that it runs once is not', async () => {
  await read(1);
  expect(await kept()).toEqual([]);
  await read(2);
  await read(3);
  expect(await kept()).toEqual(['select kept.* from kept where id = $1']);
});

it('a table that has changed since does not fail a statement', async () => {
  await sql`insert into kept values (${7}, ${'seven'})`.execute(database.db);
  await sql`alter table kept add column note text default 'new'`.execute(database.db);
  expect((await read(7)).rows).toEqual([{ id: 7, name: 'seven', note: 'new' }]);
  expect((await read(7)).rows).toHaveLength(1);
});

it('a statement that the server has forgotten is sent again', async () => {
  await read(7);
  await read(7);
  await sql`deallocate all`.execute(database.db);
  expect((await read(7)).rows).toHaveLength(1);
});

it('in a transaction, the change of a table fails it, and the next one succeeds', async () => {
  const inTransaction = () =>
    database.db.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx);
      return sql`select kept.* from kept where id = ${7}`.execute(tx);
    });
  await inTransaction();
  await inTransaction();
  await sql`alter table kept drop column note`.execute(database.db);
  await expect(inTransaction()).rejects.toMatchObject({ code: '0A000' });
  expect((await inTransaction()).rows).toEqual([{ id: 7, name: 'seven' }]);
});

it(`a connection keeps ${mostNamed} at most, and forgets what was not used for longest`, async () => {
  for (let number = 0; number < mostNamed + 20; number += 1)
    for (let times = 0; times < 2; times += 1)
      await sql`select ${sql.raw(String(number))} from kept where id = ${number}`.execute(database.db);
  const statements = await kept();
  expect(statements).toHaveLength(mostNamed);
  expect(statements).not.toContain('select 0 from kept where id = $1');
  expect(statements).toContain(`select ${mostNamed + 19} from kept where id = $1`);
});

it('how a statement is run does not depend on its text', async () => {
  await sql`insert into kept values (${8}, ${'eight'})`.execute(database.db);
  const anew = sql<{
    id: number;
    name: string;
  }>`/* planned anew */ select id, name from kept where id = ${8}`;
  for (const statement of [anew, anew, sql`${anew} /* as bytes */`])
    expect((await statement.execute(database.db)).rows).toEqual([{ id: 8, name: 'eight' }]);
  expect(await kept()).toContain('/* planned anew */ select id, name from kept where id = $1');
  const named = sql`select name from kept where id = ${8}`;
  for (let times = 0; times < 2; times += 1) {
    const { rows } = await run(database.db, named.compile(database.db), { asBytes: true, plan: 'anew' });
    expect(rows).toEqual([{ name: Buffer.from('eight') }]);
  }
  expect(await kept()).not.toContain('select name from kept where id = $1');
});

it('behind a pooler nothing is kept', async () => {
  const pooled = openDatabase(await createTestDatabase(), () => undefined, {
    size: 1,
    isPooled: true,
  });
  for (let times = 0; times < 3; times += 1)
    await sql`select id from merchant_accounts where id = ${'x'}`.execute(pooled.db);
  const { rows } = await sql`select statement from pg_prepared_statements`.execute(pooled.db);
  await pooled.close();
  expect(rows).toEqual([]);
});

it('plans the page of a request once, and one with a filter for its values', async () => {
  const once = openDatabase(await createTestDatabase(), () => undefined, { size: 1, plansOnce: true });
  const page = (filters: object) =>
    listTransactionPage(once.db, { only: ['default'] }, filters, {
      limit: 20,
      cursor: undefined,
    });
  const mode = async () =>
    (await sql<{ mode: string }>`select current_setting('plan_cache_mode') as mode`.execute(once.db)).rows;
  const modes: unknown[] = [];
  for (const filters of [{}, { currency: ['EUR'] }, {}, {}, { external_identifier: 'x' }]) {
    await page(filters);
    modes.push(...(await mode()));
  }
  const [custom, generic] = [{ mode: 'auto' }, { mode: 'force_generic_plan' }];
  expect(modes).toEqual([generic, custom, generic, generic, custom]);
  // A rollback must not undo what the connection takes for granted.
  await once.db
    .transaction()
    .execute(async (tx) => {
      await sql`select id from merchant_accounts where id = ${'x'}`.execute(tx);
      throw new Error('undone');
    })
    .catch(() => undefined);
  expect(await mode()).toEqual([custom]);
  await page({});
  expect(await mode()).toEqual([generic]);
  const { rows } = await sql<{ generic: number; custom: number }>`
    select generic_plans as generic, custom_plans as custom from pg_prepared_statements
    where statement like '%from transactions%'`.execute(once.db);
  expect(rows).toEqual([{ generic: 3, custom: 0 }]);
  await once.close();
});
