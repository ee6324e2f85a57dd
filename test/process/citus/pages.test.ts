// Only on a cluster of Citus: what one account reads and writes is the work of one shard, however many there are.
// CITUS_ROWS=100000 prints how long a page takes with so many rows, beside the same page on plain PostgreSQL.
import { sql, type RawBuilder } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../../server/database.ts';
import type { Database, Db } from '../../../server/kit/database/database.ts';
import { conditionsOf, type TransactionFilters } from '../../../server/resources/transactions/filters.ts';
import { flatRange, transactionRange } from '../../../server/resources/transactions/ranges.ts';
import { createEmptyDatabase, createTestDatabase, openTestDatabase } from '../../support/database.ts';
import { createAccount, createBuyer } from '../../support/records.ts';
import { seedSql } from '../../support/transactions.ts';

const rows = Number(process.env.CITUS_ROWS ?? 2_000);
let sharded: Database;
let plain: Database;

const open = (url: string, isCitus: boolean) => openTestDatabase(url, { statementMilliseconds: 0, isCitus });

async function fill({ db }: Database): Promise<void> {
  for (const id of ['default', 'marketplace', 'small']) await createAccount(db, { id, display_name: id });
  await sql.raw(seedSql(rows)).execute(db);
  await sql`analyze transactions`.execute(db);
}

beforeAll(async () => {
  // The counters of Citus tell how many statements were the work of one shard, and of several.
  const options = '-c citus.enable_stat_counters=on -c citus.explain_all_tasks=on';
  sharded = open(`${await createTestDatabase()}?options=${encodeURIComponent(options)}`, true);
  plain = open(await createEmptyDatabase(), false);
  await migrate(plain.db);
  await fill(sharded);
  await fill(plain);
}, 3_600_000);

afterAll(async () => {
  await sharded.close();
  await plain.close();
});

interface Plan {
  'Custom Plan Provider'?: string;
  'Distributed Query'?: { Job: { 'Task Count': number } };
  Plans?: Plan[];
}

const tasksOf = (plan: Plan): number =>
  plan['Distributed Query']?.Job['Task Count'] ??
  (plan.Plans ?? []).map(tasksOf).reduce((sum, one) => sum + one, 0);

async function countTasks(query: RawBuilder<unknown>): Promise<number> {
  const { rows: explained } = await sql<{ 'QUERY PLAN': [{ Plan: Plan }] }>`
    explain (format json) ${query}`.execute(sharded.db);
  return tasksOf(explained[0]?.['QUERY PLAN'][0].Plan ?? {});
}

const cursor = {
  createdAt: new Date(Date.now() - (rows / 2) * 60_000),
  id: '7fffffff-ffff-4fff-bfff-ffffffffffff',
};
const filters: Record<string, TransactionFilters> = {
  'no filter': {},
  'one value': { status: ['authorization_declined'] },
  'several values': { status: ['authorization_declined', 'capture_succeeded'], currency: ['EUR', 'USD'] },
  'a search in several columns': { search: 'order-7' },
  metadata: { metadata: new Map([['order', '7']]) },
};

describe('a page of one account', () => {
  it.each(Object.entries(filters))('%s: one task', async (_name, given) => {
    for (const at of [undefined, cursor]) {
      const range = { at, side: 'older', limit: 21 } as const;
      expect(await countTasks(transactionRange({ only: ['default'] }, conditionsOf(given), range))).toBe(1);
    }
  });

  it.runIf(process.env.CITUS_ROWS !== undefined)(
    'takes how long, beside plain PostgreSQL',
    async () => {
      const shown: Record<string, object> = {};
      for (const [name, given] of Object.entries(filters))
        for (const at of [undefined, cursor]) {
          const query = transactionRange({ only: ['default'] }, conditionsOf(given), {
            at,
            side: 'older',
            limit: 21,
          });
          const times = { plain: [] as number[], citus: [] as number[] };
          // By turns, so that whatever else the machine does concerns both.
          for (let run = 0; run < 200; run += 1)
            for (const [engine, { db }] of [
              ['plain', plain],
              ['citus', sharded],
            ] as const) {
              const begun = performance.now();
              await query.execute(db);
              times[engine].push(performance.now() - begun);
            }
          const [one, other] = [median(times.plain), median(times.citus)];
          shown[`${name}, ${at ? 'in the middle' : 'first page'}`] = {
            plain: one.toFixed(2),
            citus: other.toFixed(2),
            ratio: (other / one).toFixed(2),
          };
        }
      console.log(`Milliseconds of a page of 20, median of 200, ${rows} rows`);
      console.table(shown);
    },
    3_600_000,
  );
});

const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

it('a page of all accounts is read from the index by time, and not sorted, where a shard has many rows', async () => {
  const query = flatRange('all', conditionsOf({}), { at: undefined, side: 'older', limit: 21 });
  expect(await countTasks(query)).toBe(4);
  const { rows: explained } = await sql`explain (costs off) ${query}`.execute(sharded.db);
  expect(JSON.stringify(explained)).toContain('using transactions_everywhere');
});

const counters = async (db: Db) => {
  const { rows: found } = await sql<{ one: number; several: number }>`
    select query_execution_single_shard as one, query_execution_multi_shard as several
    from citus_stat_counters where name = current_database()`.execute(db);
  return found[0] ?? { one: 0, several: 0 };
};

it('a buyer, who belongs to one account, is stored by one shard', async () => {
  const before = await counters(sharded.db);
  await createBuyer(sharded.db, {
    merchant_account_id: 'default',
    external_identifier: 'one shard',
    display_name: null,
    account_number: null,
    billing_details: null,
  });
  const after = await counters(sharded.db);
  expect(after.one).toBeGreaterThan(before.one);
  expect(after.several).toBe(before.several);
});
