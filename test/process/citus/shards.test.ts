// Only on a cluster of Citus. What one account asks for is answered by one shard: then an account is served by one server,
// however many there are.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../server/kit/database/database.ts';
import { createTestDatabase, openTestDatabase } from '../../support/database.ts';

let database: Database;

beforeAll(async () => {
  database = openTestDatabase(await createTestDatabase());
});

afterAll(() => database.close());

describe('tables', () => {
  it('with rows of accounts are distributed by account, and the rows of an account are together', async () => {
    const { rows } = await sql<{ kind: string; groups: number; columns: string[] }>`
      select citus_table_type as kind, count(distinct colocation_id) as groups,
        array_agg(distinct distribution_column) as columns
      from citus_tables group by 1 order by 1`.execute(database.db);
    expect(rows).toMatchObject([
      { kind: 'distributed', groups: 1, columns: ['merchant_account_id'] },
      { kind: 'local' },
      { kind: 'reference', groups: 1 },
    ]);
  });
});
