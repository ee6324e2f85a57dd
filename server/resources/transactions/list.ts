// Lists transactions page by page. The statements are in ranges.ts.
import type { CompiledQuery, RawBuilder } from 'kysely';
import { countAccounts, isCitus } from '../../kit/database/across-accounts.ts';
import type { Db } from '../../kit/database/database.ts';
import { run, type Plan } from '../../kit/database/execution.ts';
import { pageThrough, type Page, type PageRequest, type Range } from '../../kit/database/paging.ts';
import type { Accounts } from '../../kit/rules/accounts.ts';
import type { Position } from '../../kit/rules/cursor.ts';
import { conditionsOf, type Conditions, type TransactionFilters } from './filters.ts';
import {
  flatRange,
  findFlatStop,
  isFiltered,
  itemWith,
  manyRange,
  mostNamed,
  nothing,
  onlyOf,
  planOf,
  transactionRange,
  type TransactionItem,
} from './ranges.ts';

/** Up to so many accounts, a look into each takes a few milliseconds, whatever the others do meanwhile. */
export const mostLookedInto = 100;

/**
 * Transactions of these accounts, newest first. Citus cannot limit each of several accounts, so there they are read in one flat
 * statement, whose pages it merges.
 */
export async function listTransactionPage(
  db: Db,
  accounts: Accounts,
  filters: TransactionFilters,
  page: PageRequest,
): Promise<Page<TransactionItem>> {
  const only = onlyOf(accounts);
  const conditions = conditionsOf(filters);
  const count = await countToLookInto(db, accounts, conditions);
  const isMany = count > mostLookedInto;
  if (isCitus(db) && only === undefined)
    return pageThrough((range, behind) => readFlat(db, accounts, conditions, isMany, range, behind), page);
  const named =
    accounts === 'all' && conditions.ofAccount.length > 0 && !isMany ? await nameFew(db) : accounts;
  // Entries read one block each, a look into an account three or more. A power of two, so that few different statements are planned.
  const tries = 2 ** Math.floor(Math.log2(count));
  const statement: Statement = (range, what) =>
    isMany
      ? manyRange(accounts, conditions, range, range.limit + tries, what)
      : transactionRange(named, conditions, range, what);
  return pageThrough(
    (range, behind) => read(db, bothRanges(statement, range, behind).compile(db), planOf(conditions)),
    page,
  );
}

/** How many accounts a page looks into one by one. None with an identifier: so few rows match that those of others need not be read. */
async function countToLookInto(db: Db, accounts: Accounts, conditions: Conditions): Promise<number> {
  if (conditions.hasIdentifier) return 0;
  if (accounts !== 'all') return accounts.only.length;
  return isFiltered(conditions) ? countAccounts(db) : 0;
}

/** Of many accounts, it first looks at the entries next to the cursor, because Citus may sort all rows that match. */
async function readFlat(
  db: Db,
  accounts: Accounts,
  conditions: Conditions,
  isMany: boolean,
  range: Range,
  behind: Range | undefined,
): Promise<TransactionItem[]> {
  const stop = isMany ? await findFlatStop(db, conditions, range) : undefined;
  // Only the page has it: whether there is any row behind needs no order.
  const statement =
    (until: Position | undefined): Statement =>
    (asked, what) =>
      flatRange(accounts, conditions, asked, what, asked === range ? until : undefined);
  const readUntil = (until?: Position) =>
    read(db, bothRanges(statement(until), range, behind).compile(db), 'anew');
  const rows = await readUntil(stop);
  return stop && rows.length < range.limit ? readUntil() : rows;
}

type Statement = (range: Range, what?: RawBuilder<unknown>) => RawBuilder<TransactionItem>;

/** One statement for both questions: a second one would cost as much as the page itself. */
function bothRanges(
  statement: Statement,
  range: Range,
  behind: Range | undefined,
): RawBuilder<TransactionItem> {
  return statement(range, itemWith(behind && statement(behind, nothing)));
}

const read = async (db: Db, page: CompiledQuery<TransactionItem>, plan?: Plan): Promise<TransactionItem[]> =>
  (await run(db, page, { asBytes: true, plan })).rows;

async function nameFew(db: Db): Promise<Accounts> {
  const rows = await db
    .selectFrom('merchant_accounts')
    .select('id')
    .limit(mostNamed + 1)
    .execute();
  return rows.length > 0 && rows.length <= mostNamed ? { only: rows.map(({ id }) => id) } : 'all';
}
