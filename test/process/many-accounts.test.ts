// What a page over thousands of merchant accounts reads: blocks of tables and indexes, as PostgreSQL counts them for the connection.
// It takes half a minute to fill the database, so `npm test` only compares the rows of fewer accounts: sharded/many-accounts.test.ts and
// sharded/transaction-paging.test.ts.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../server/kit/database/database.ts';
import { run } from '../../server/kit/database/execution.ts';
import type { PageRequest } from '../../server/kit/database/paging.ts';
import { listWebhookSubscriptionPage } from '../../server/kit/events/subscriptions/queries.ts';
import type { Accounts } from '../../server/kit/rules/accounts.ts';
import type { Cursor } from '../../server/kit/rules/cursor.ts';
import { conditionsOf, type TransactionFilters } from '../../server/resources/transactions/filters.ts';
import { listTransactionPage } from '../../server/resources/transactions/list.ts';
import { planOf, transactionRange } from '../../server/resources/transactions/ranges.ts';
import { createTestDatabase, withClient } from '../support/database.ts';
import { seedSql } from '../support/transactions.ts';

const names = (kind: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${kind}-${index}`);
const busy = names('busy', 3000);
/** They had transactions two years ago. */
const quiet = names('quiet', 60);
/** They never had any. */
const empty = names('empty', 2940);
const rows = 36_000;

let database: Database;

beforeAll(async () => {
  const url = await createTestDatabase();
  await withClient(url, async (client) => {
    await client.query(
      'insert into merchant_accounts (id, display_name) select id, id from unnest($1::text[]) as id',
      [[...busy, ...quiet, ...empty]],
    );
    await client.query(seedSql(30 * quiet.length, `'quiet-' || n % 60`, `now() - interval '2 years'`));
    await client.query(seedSql(rows, `'busy-' || (hashint4(n) & 2147483647) % 3000`));
    await client.query(
      `insert into webhook_subscriptions (merchant_account_id, active, url, secret_sealed, created_at)
       select account, true, 'https://example.com/', repeat('s', 120), now() - n * interval '1 minute'
       from unnest($1::text[]) with ordinality as given (account, n)`,
      [[...busy, ...busy, ...quiet]],
    );
    for (const table of ['transactions', 'webhook_subscriptions', 'merchant_accounts'])
      await client.query(`alter table ${table} set (autovacuum_enabled = false)`);
    await client.query('vacuum analyze');
  });
  // One connection, which plans as those of the service.
  database = openDatabase(
    url,
    (error) => {
      throw error;
    },
    { size: 1, plansOnce: true },
  );
}, 600_000);
afterAll(() => database.close());

async function countBlocks(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(database.db);
  const { rows: found } = await sql<{ blocks: number }>`
    select sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::float8 as blocks
    from pg_statio_user_tables`.execute(database.db);
  return found[0]?.blocks ?? NaN;
}

/** Of the third time, when a plan that is made once is used, or of the fourth: PostgreSQL may count something else beside one of them. */
async function blocksOf(read: () => Promise<unknown>): Promise<number> {
  await read();
  await read();
  const counts: number[] = [];
  for (const _ of ['third', 'fourth']) {
    const before = await countBlocks();
    await read();
    counts.push((await countBlocks()) - before);
  }
  return Math.min(...counts);
}

const middle = {
  createdAt: new Date(Date.now() - (rows / 2) * 60_000),
  id: '7fffffff-ffff-4fff-bfff-ffffffffffff',
};
const recent = { ...middle, createdAt: new Date(Date.now() - 10 * 60_000) };
const pages: [string, Cursor | undefined][] = [
  ['first page', undefined],
  ['next page in the middle', { ...middle, direction: 'next' }],
  ['previous page in the middle', { ...middle, direction: 'previous' }],
  ['the few that are new since the cursor', { ...recent, direction: 'previous' }],
];
/** Of each kind, with values that many transactions have. */
const common: [string, TransactionFilters][] = [
  ['none', {}],
  ['a time', { created_at_lte: '2099-01-01T00:00:00Z' }],
  ['a value', { status: ['capture_succeeded'] }],
  ['several values', { currency: ['EUR', 'USD'] }],
  ['a flag', { merchant_initiated: false }],
  ['a range', { amount_gte: 10 }],
  ['two of these', { currency: ['EUR'], amount_gte: 10 }],
  ['metadata', { metadata: new Map([['channel', 'web']]) }],
  ['metadata and a value', { metadata: new Map([['channel', 'web']]), status: ['capture_succeeded'] }],
];
const rare: [string, TransactionFilters][] = [
  ['a time', { created_at_lte: '2099-01-01T00:00:00Z' }],
  ['a value', { status: ['processing'] }],
  ['several values', { currency: ['XXX', 'ISK'] }],
  ['a flag', { pending_review: true }],
  ['a range', { amount_gte: 4999 }],
  ['two of these', { currency: ['ISK'], amount_gte: 4999 }],
  ['metadata', { metadata: new Map([['order', '777']]) }],
  ['an identifier', { external_identifier: 'order-777' }],
  ['a search', { search: 'order-777' }],
];

const list = (accounts: Accounts, filters: TransactionFilters, cursor?: Cursor) => () =>
  listTransactionPage(database.db, accounts, filters, { limit: 20, cursor });

/** A look into each account, which was the only way once. */
const lookInto = (only: readonly string[], filters: TransactionFilters) => () => {
  const conditions = conditionsOf(filters);
  const statement = transactionRange({ only }, conditions, { at: undefined, side: 'older', limit: 21 });
  return run(database.db, statement.compile(database.db), { plan: planOf(conditions) });
};

describe('a page of transactions', () => {
  describe.each(pages)('%s', (_page, cursor) => {
    it.each(common)(
      '3,000 busy accounts read at most three times as much as all do, filter: %s',
      async (_filter, filters) => {
        const all = await blocksOf(list('all', filters, cursor));
        const named = await blocksOf(list({ only: busy }, filters, cursor));
        expect(named).toBeLessThanOrEqual(3 * all);
        // With the some twenty that PostgreSQL reads to make a plan.
        expect(all).toBeLessThan(100);
      },
    );
  });

  it.each(rare)('a few accounts read no more than a look into each, filter: %s', async (_, filters) => {
    for (const only of [busy.slice(0, 1), busy.slice(0, 21), busy.slice(0, 60), quiet])
      expect(await blocksOf(list({ only }, filters))).toBeLessThanOrEqual(
        await blocksOf(lookInto(only, filters)),
      );
  });

  it.each(rare)(
    '150 accounts with nothing new read at most a third more than a look into each, filter: %s',
    async (_, filters) => {
      const only = [...quiet, ...empty.slice(0, 90)];
      const [each, blocks] = [
        await blocksOf(lookInto(only, filters)),
        await blocksOf(list({ only }, filters)),
      ];
      expect(blocks).toBeLessThanOrEqual((4 / 3) * each);
    },
  );
});

it('a page of webhook subscriptions of 3,000 accounts reads what one of all accounts reads', async () => {
  const subscriptions = (accounts: Accounts, page: PageRequest) => () =>
    listWebhookSubscriptionPage(database.db, accounts, page);
  for (const [, cursor] of pages) {
    const page = { limit: 20, cursor };
    const all = await blocksOf(subscriptions('all', page));
    expect(await blocksOf(subscriptions({ only: busy }, page))).toBeLessThanOrEqual(3 * all);
  }
});
