// The statements that read one range of the list of transactions. Whatever the filters are, they read only index ranges, never the
// whole table.
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { JsonBytes } from '../../kit/contract/handler-types.ts';
import { acrossAccounts, arrayOf, isAmong } from '../../kit/database/across-accounts.ts';
import { jsonOf, timestamp } from '../../kit/database/columns.ts';
import type { Db } from '../../kit/database/database.ts';
import type { Plan } from '../../kit/database/execution.ts';
import type { Range } from '../../kit/database/paging.ts';
import type { Accounts } from '../../kit/rules/accounts.ts';
import type { Position } from '../../kit/rules/cursor.ts';
import type { Condition, Conditions } from './filters.ts';
import { hasValue, inEverywhere, isHashedOf, isOf, notInWalk } from './lookup.ts';
import { transactionColumns, transactionConstants, type Transaction } from './table.ts';

interface Place {
  id: string;
  created_at: Date;
}

/** A transaction as the API shows it, with the place that it has in the list. */
export interface TransactionItem extends JsonBytes<Transaction>, Place {
  readonly json: Buffer;
}

const item = sql.raw(
  `transactions.id, transactions.created_at, ${jsonOf('transactions', transactionConstants, transactionColumns)} as json`,
);

/** For a statement of which only matters whether it has a row. */
export const nothing = sql`1`;

/**
 * An item that also says whether this statement, for what lies behind the page, has a row. Inside of another `select`, because `exists`
 * drops an order: PostgreSQL could then read the table from its oldest row on.
 */
export const itemWith = (behind: RawBuilder<unknown> | undefined): RawBuilder<unknown> =>
  behind ? sql`${item}, exists (select from (${behind}) as behind) as "hasBehind"` : item;

/** A statement can name so many accounts one by one. */
export const mostNamed = 20;

export const onlyOf = (accounts: Accounts): string | undefined =>
  accounts !== 'all' && accounts.only.length === 1 ? accounts.only[0] : undefined;

/**
 * With one account and one filter, this scans one index range. With several accounts it scans one range of each, limited to
 * the size of the page, and merges them to the first `limit` rows; the same for several values of one filter, and for
 * the columns of a search. Several filters are compared with the entries of an index by time: see docs/decisions/0020-transaction-indexes.md.
 */
export function transactionRange(
  accounts: Accounts,
  conditions: Conditions,
  range: Range,
  what: RawBuilder<unknown> = item,
): RawBuilder<TransactionItem> {
  const { created, all, any, choice, isWalk } = conditions;
  const { lists, own } = ownedBy(accounts, conditions);
  const where = [...bounds(created, range), ...all, ...own];
  if (choice) {
    lists.push(sql`unnest(${choice.values}::${sql.raw(choice.type)}[]) as choice (value)`);
    where.push(hasValue(choice.column, choice.type, sql.ref('choice.value')), notInWalk);
  }
  if (lists.length === 0 && any.length === 0 && !isWalk)
    return sql<TransactionItem>`${select(what, where, range)}`;
  const searches = any.length === 0 ? [where] : any.map((one) => [...where, one]);
  // Otherwise Citus does not infer the account from the rows of the page, and asks every server.
  const only = onlyOf(accounts);
  const ofOnly = only === undefined ? sql`` : sql`and transactions.merchant_account_id = ${only}`;
  return sql<TransactionItem>`
    select ${what}
    from (${merged(lists, searches, range)}) as page
    join transactions on transactions.merchant_account_id = page.merchant_account_id and transactions.id = page.id ${ofOnly}
    ${nearest('page', range)}`;
}

/** How PostgreSQL must plan a range. Undefined for one without filters, whose plan is the same for any values. */
export function planOf(conditions: Conditions): Plan | undefined {
  if (!isFiltered(conditions)) return undefined;
  return conditions.isWalk && !conditions.hasGin ? 'anewInOrder' : 'anew';
}

/** The first keys of all: of each entry of the lists, by each of the searches. */
function merged(
  lists: readonly RawBuilder<unknown>[],
  searches: readonly Condition[][],
  range: Range,
): RawBuilder<unknown> {
  const key = sql`transactions.merchant_account_id, transactions.created_at, transactions.id`;
  const selects = searches.map((where) => sql`(${select(key, where, range)})`);
  // `union` removes duplicates: a search can find the same row by two columns.
  const found = sql`lateral (${sql.join(selects, sql` union `)}) as found`;
  const from = sql.join([...lists, found], sql` cross join `);
  return sql`select found.* from ${from} ${nearest('found', range)} ${limitTo(range)}`;
}

const select = (columns: RawBuilder<unknown>, where: readonly Condition[], range: Range) =>
  sql`select ${columns} from transactions where ${sql.join(where, sql` and `)}
    ${nearest('transactions', range)} ${limitTo(range)}`;

const nearest = (from: string, { side }: Pick<Range, 'side'>) => {
  const direction = sql.raw(side === 'newer' ? 'asc' : 'desc');
  return sql`order by ${sql.ref(`${from}.created_at`)} ${direction}, ${sql.ref(`${from}.id`)} ${direction}`;
};

export const isFiltered = ({ all, ofAccount, any, choice }: Conditions): boolean =>
  all.length + ofAccount.length + any.length > 0 || choice !== undefined;

interface OwnedBy {
  /** Tables to join with, so that each account is read by itself. */
  lists: RawBuilder<unknown>[];
  /** That a transaction belongs to one of the accounts, with the filters that an index has together with the account. */
  own: Condition[];
}

function ownedBy(accounts: Accounts, conditions: Conditions): OwnedBy {
  const { ofAccount, hasIdentifier, isHashed } = conditions;
  const only = onlyOf(accounts);
  if (only !== undefined)
    return { lists: [], own: [...ofAccount.map(({ of }) => of([sql`${only}`])), isOf(sql`${only}`)] };
  if (accounts === 'all' && !isFiltered(conditions))
    return { lists: [], own: [sql`${inEverywhere} ${acrossAccounts('newest-everywhere')}`] };
  if (accounts !== 'all' && ofAccount.length > 0 && !hasIdentifier && accounts.only.length <= mostNamed) {
    // The planner must know the accounts to guess how many rows match. It then reads all that match, or transactions_everywhere.
    const named = accounts.only.map((id) => sql`${id}`);
    return {
      lists: [],
      own: [...ofAccount.map(({ of }) => of(named)), isOneOf(accounts.only), inEverywhere],
    };
  }
  const joined = sql.ref('account.id');
  const list =
    accounts === 'all'
      ? sql`merchant_accounts as account`
      : sql`unnest(${arrayOf(accounts.only)}::text[]) as account (id)`;
  return {
    lists: [list],
    own: [
      ...ofAccount.flatMap(({ plain, of }) => (hasIdentifier ? [plain] : [plain, of([joined])])),
      isHashed ? isHashedOf(joined) : isOf(joined),
    ],
  };
}

const isOneOf = (accounts: readonly string[]) =>
  sql<SqlBool>`transactions.merchant_account_id = any(${arrayOf(accounts)}::text[])`;

/**
 * For so many accounts that a look into each takes longer than to read the newest of all, and to leave out those of others. The latter
 * alone would read the whole list if the accounts had nothing new, or nothing that matches. So it stops after `entries`, and if the page is
 * not full by then, each account is looked into. PostgreSQL runs only the parts that are needed.
 */
export function manyRange(
  accounts: Accounts,
  conditions: Conditions,
  range: Range,
  entries: number,
  what: RawBuilder<unknown> = item,
): RawBuilder<TransactionItem> {
  const row = sql`transactions.*`;
  const near = [inEverywhere, ...bounds(conditions.created, range)];
  const own =
    accounts === 'all' ? sql`true` : isAmong(sql.ref('transactions.merchant_account_id'), accounts.only);
  // `case` prevents a guess that few match: PostgreSQL would read and sort all entries.
  const matches = sql`case when ${sql.join([own, ...plainly(conditions)], sql` and `)} then true end`;
  return sql<TransactionItem>`${acrossAccounts('newest-everywhere')}
    with page as (
      select ${row} from (${select(row, near, { ...range, limit: entries })}) as transactions
      where ${matches} ${nearest('transactions', range)} ${limitTo(range)}
    ), stop as (
      ${stopOf([...near, sql`(select count(*) from page) < ${sql.lit(range.limit)}`], range, entries)}
    )
    select ${what} from (
      select * from page where not exists (select from stop)
      union all
      select * from (${transactionRange(accounts, conditions, range, row)}) as page where exists (select from stop)
    ) as transactions ${nearest('transactions', range)}`;
}

const stopOf = (where: readonly Condition[], range: Range, entries: number) =>
  sql<Place>`${select(sql`transactions.created_at, transactions.id`, where, { ...range, limit: 1 })} offset ${sql.lit(entries)}`;

function plainly({ all, ofAccount, any, choice }: Conditions): Condition[] {
  const conditions = [...all, ...ofAccount.map(({ plain }) => plain)];
  if (any.length > 0) conditions.push(sql`(${sql.join(any, sql` or `)})`);
  if (choice)
    conditions.push(
      sql`${sql.ref(`transactions.${choice.column}`)} = any(${choice.values}::${sql.raw(choice.type)}[])`,
    );
  return conditions;
}

/**
 * For several accounts on Citus, which sends it to all servers and merges their pages. It cannot stop by itself after some entries: see
 * `findFlatStop`.
 */
export function flatRange(
  accounts: Accounts,
  conditions: Conditions,
  range: Range,
  what: RawBuilder<unknown> = item,
  stop?: Position,
): RawBuilder<TransactionItem> {
  const own =
    accounts === 'all'
      ? sql<SqlBool>`${inEverywhere} ${acrossAccounts('flat-list')}`
      : isOneOf(accounts.only);
  const until = stop && beyond(range.side === 'newer' ? '<=' : '>=', stop);
  const where = [own, ...bounds(conditions.created, range), ...plainly(conditions)];
  return sql<TransactionItem>`${select(what, until ? [...where, inEverywhere, until] : where, range)}`;
}

/** Where a scan of all accounts would stop after some entries. Every server of Citus returns so many, so they are few. */
export async function findFlatStop(
  db: Db,
  { created }: Conditions,
  range: Range,
): Promise<Position | undefined> {
  const statement = stopOf([inEverywhere, ...bounds(created, range)], range, 10 * range.limit);
  const { rows } = await sql<Place>`${statement} ${acrossAccounts('flat-list')}`.execute(db);
  return rows[0] && { createdAt: rows[0].created_at, id: rows[0].id };
}

// Not a parameter: without knowing it, a plan for any values sorts a whole account.
const limitTo = ({ limit }: Pick<Range, 'limit'>) => sql.raw(`limit ${limit}`);

const beyond = (than: '<' | '>' | '<=' | '>=', { createdAt, id }: Position) =>
  sql<SqlBool>`(transactions.created_at, transactions.id) ${sql.raw(than)} (${timestamp(createdAt)}::timestamptz, ${id}::uuid)`;

// The row of a cursor is within the bounds, so the bound on the side of the cursor is left out. With both, PostgreSQL would
// start at the bound and scan up to the cursor (68 ms instead of 0.3 ms in the middle of a million rows).
function bounds({ from, to }: Conditions['created'], { at, side }: Range): Condition[] {
  const createdAt = sql.ref('transactions.created_at');
  const lower = side === 'newer' ? at && beyond('>', at) : undefined;
  const upper = side === 'older' ? at && beyond('<', at) : undefined;
  return [
    lower ?? (from && sql<SqlBool>`${createdAt} >= ${timestamp(from)}`),
    upper ?? (to && sql<SqlBool>`${createdAt} <= ${timestamp(to)}`),
  ].filter((condition) => condition !== undefined);
}
