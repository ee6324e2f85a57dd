// Paging through GET /transactions, of one account, several and all: every row once and in order, both ways. What is inserted
// meanwhile: paging.test.ts.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Database } from '../../../server/kit/database/database.ts';
import type { Cursor } from '../../../server/kit/rules/cursor.ts';
import type { TransactionFilters } from '../../../server/resources/transactions/filters.ts';
import { listTransactionPage, mostLookedInto } from '../../../server/resources/transactions/list.ts';
import { createTestDatabase, openTestDatabase } from '../../support/database.ts';
import { runs, seed } from '../../support/random.ts';
import { createAccount, insertTransactions } from '../../support/records.ts';
import {
  asFilters,
  caseOf,
  expected,
  filterNames,
  filterOf,
  transaction,
  type Case,
} from '../../support/transactions.ts';

const accounts = ['default', 'marketplace', 'third'];
/** Accounts without transactions. With them there are too many to look into each first. */
const quiet = Array.from({ length: mostLookedInto }, (_, index) => `quiet-${index}`);
type Scope = readonly string[] | undefined;
const scopes: Scope[] = [
  ['default'],
  ['marketplace', 'third'],
  ['default', ...quiet.slice(0, 20)],
  ['marketplace', 'third', ...quiet.slice(0, 58)],
  ['third', ...quiet],
  ['default', 'third', ...quiet],
  undefined,
];

let database: Database;
let asCitus: Database;

beforeAll(async () => {
  const url = await createTestDatabase();
  database = openTestDatabase(url);
  asCitus = openTestDatabase(url, { isCitus: true });
  for (const id of [...accounts, ...quiet]) await createAccount(database.db, { id, display_name: id });
});
afterAll(async () => {
  await database.close();
  await asCitus.close();
});

const page = async (
  scope: Scope,
  filters: TransactionFilters,
  limit: number,
  cursor?: Cursor,
  db = database.db,
) => {
  const { rows, next, previous } = await listTransactionPage(db, scope ? { only: scope } : 'all', filters, {
    limit,
    cursor,
  });
  return {
    ids: rows.map(({ id }) => id),
    next: next && ({ ...next, direction: 'next' } as const),
    previous: previous && ({ ...previous, direction: 'previous' } as const),
  };
};

type Pages = Awaited<ReturnType<typeof page>>[];

async function forward(scope: Scope, filters: TransactionFilters, limit: number): Promise<Pages> {
  const pages = [await page(scope, filters, limit)];
  for (let next = pages[0]?.next; next; next = pages.at(-1)?.next)
    pages.push(await page(scope, filters, limit, next));
  return pages;
}

describe(`a list that does not change`, () => {
  const at = '1999-12-31T00:00:00.000Z';
  const oldest: Case = {
    given: transaction({ merchant_account_id: 'third', amount: 123_456_789, created_at: at, updated_at: at }),
    created: Date.parse(at),
    updated: Date.parse(at),
  };
  const data: Case[] = accounts.flatMap((account, index) =>
    fc.sample(caseOf(account), { seed: seed + index, numRuns: 60 }),
  );
  data.push(oldest);
  const casesOf = (scope: Scope) =>
    data.filter(({ given }) => scope?.includes(given.merchant_account_id) ?? true);

  beforeAll(async () => {
    await insertTransactions(
      database.db,
      data.map(({ given }) => given),
    );
  });

  const question = fc
    .record({
      scope: fc.constantFrom(...scopes),
      names: fc.subarray(filterNames, { maxLength: 2 }),
      limit: fc.integer({ min: 1, max: 9 }),
    })
    .chain(({ scope, names, limit }) =>
      fc.constantFrom(...casesOf(scope)).chain((witness) =>
        fc.record({
          scope: fc.constant(scope),
          limit: fc.constant(limit),
          filters: fc.tuple(...names.map((name) => filterOf(name, witness))),
        }),
      ),
    );

  it('every page but the last is full, together they are the list, and each leads back to the one before', () =>
    fc.assert(
      fc.asyncProperty(question, async ({ scope, filters, limit }) => {
        const wanted = expected(casesOf(scope), filters);
        const pages = await forward(scope, asFilters(filters), limit);
        expect(pages.flatMap(({ ids }) => ids)).toEqual(wanted);
        expect(pages.length).toBe(Math.max(1, Math.ceil(wanted.length / limit)));
        expect(pages[0]?.previous).toBeUndefined();
        for (const [index, { previous }] of pages.entries()) {
          if (index === 0) continue;
          expect(previous).toBeDefined();
          expect(await page(scope, asFilters(filters), limit, previous)).toEqual(pages[index - 1]);
        }
      }),
      { numRuns: runs(60) },
    ));

  it('the oldest of all is found, if only that one matches', async () => {
    for (const scope of scopes.filter((one) => casesOf(one).includes(oldest)))
      for (const { db } of inject('cluster').isCitus ? [database] : [database, asCitus]) {
        const found = await page(scope, { amount_eq: oldest.given.amount }, 2, undefined, db);
        expect(found.ids).toEqual([oldest.given.id]);
      }
  });

  // Citus runs only one of the two.
  it.skipIf(inject('cluster').isCitus)('the statement for Citus gives the same pages, both ways', () =>
    fc.assert(
      fc.asyncProperty(question, async ({ scope, filters, limit }) => {
        for (const { previous, next } of await forward(scope, asFilters(filters), limit))
          for (const cursor of [previous, next])
            expect(await page(scope, asFilters(filters), limit, cursor, asCitus.db)).toEqual(
              await page(scope, asFilters(filters), limit, cursor),
            );
      }),
      { numRuns: runs(60) },
    ),
  );
});
