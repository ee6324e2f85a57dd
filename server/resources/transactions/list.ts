// Lists transactions page by page. Whatever the filters are, a page reads only index ranges, never the whole table.
import { CompiledQuery, sql, type RawBuilder, type SqlBool } from 'kysely';
import type { JsonBytes } from '../../../generated/operations.ts';
import { acrossAccounts, isCitus } from '../../database/across-accounts.ts';
import { jsonOf, timestamp } from '../../database/columns.ts';
import type { Db } from '../../database/database.ts';
import { plannedAnew, plannedInOrder } from '../../database/named-statements.ts';
import { pageThrough, type Page, type PageRequest, type Range } from '../../database/paging.ts';
import { asBytes } from '../../database/protocol.ts';
import type { Accounts } from '../../rules/accounts.ts';
import type { Position } from '../../rules/cursor.ts';
import { conditionsOf, type Condition, type Conditions, type TransactionFilters } from './filters.ts';
import { hasValue, inEverywhere, isHashedOf, isOf, notInWalk } from './lookup.ts';
import { transactionColumns, transactionConstants, type Transaction } from './table.ts';

/** A transaction as the API shows it, with the place that it has in the list. */
export interface TransactionItem extends JsonBytes<Transaction> {
  readonly json: Buffer;
  id: string;
  created_at: Date;
}

const item = sql.raw(
  `transactions.id, transactions.created_at, ${jsonOf('transactions', transactionConstants, transactionColumns)} as json`,
);

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
  if (only !== undefined && !hasFilter(filters))
    return pageThrough((range, behind) => readPlain(db, only, range, behind), page);
  const conditions = conditionsOf(filters);
  const isFlat = isCitus(db) && only === undefined;
  const statement = isFlat ? flatRange : transactionRange;
  const named =
    accounts === 'all' && conditions.ofAccount.length > 0 && !isFlat ? await nameFew(db) : accounts;
  const read = async (range: Range, behind?: Range) =>
    (await bothRanges(statement, named, conditions, range, behind).execute(db)).rows;
  return pageThrough(read, page);
}

/** One statement for both questions: a second one would cost as much as the page itself. */
function bothRanges(
  statement: typeof transactionRange,
  accounts: Accounts,
  conditions: Conditions,
  range: Range,
  behind: Range | undefined,
): RawBuilder<TransactionItem> {
  const hasBehind = behind && sql`exists (${statement(accounts, conditions, behind, sql`1`)})`;
  const what = hasBehind ? sql`${item}, ${hasBehind} as "hasBehind"` : item;
  return sql`${statement(accounts, conditions, range, what)} ${asBytes}`;
}

const hasFilter = (filters: TransactionFilters): boolean => {
  for (const name in filters) if (filters[name as keyof TransactionFilters] !== undefined) return true;
  return false;
};

/** Values to compile a plain page with. Where one comes out as a parameter, the value of a request is put in later. */
const marks = {
  account: 'account',
  at: { createdAt: new Date(1), id: '00000000-0000-4000-8000-000000000001' },
  behind: { createdAt: new Date(2), id: '00000000-0000-4000-8000-000000000002' },
};
const valuesOf = (account: string, at: Position | undefined, behind: Position | undefined): string[] => [
  account,
  ...[at, behind].flatMap((position) => (position ? [timestamp(position.createdAt), position.id] : ['', ''])),
];
const marked = valuesOf(marks.account, marks.at, marks.behind);

interface Template {
  text: string;
  /** For each parameter, which of `valuesOf` it is. */
  places: number[];
}

const templates = new Map<string, Template>();

/** A page of one account without filters: what most requests ask for. Its statement is written once for each form and limit. */
async function readPlain(db: Db, account: string, range: Range, behind?: Range): Promise<TransactionItem[]> {
  const { side, limit, at } = range;
  const form = `${side} ${limit} ${at === undefined} ${behind?.at === undefined}`;
  let template = templates.get(form);
  if (!template) {
    const { sql: text, parameters } = bothRanges(
      transactionRange,
      { only: [marks.account] },
      conditionsOf({}),
      { ...range, at: at && marks.at },
      behind && { ...behind, at: behind.at && marks.behind },
    ).compile(db);
    template = { text, places: parameters.map((value) => marked.indexOf(value as string)) };
    templates.set(form, template);
  }
  const values = valuesOf(account, at, behind?.at);
  const parameters = template.places.map((place) => values[place]);
  const query = CompiledQuery.raw(template.text, parameters) as CompiledQuery<TransactionItem>;
  return (await db.executeQuery(query)).rows;
}

const mostNamed = 20;

/** All accounts, by their names if they are few enough to be named in a statement. */
async function nameFew(db: Db): Promise<Accounts> {
  const rows = await db
    .selectFrom('merchant_accounts')
    .select('id')
    .limit(mostNamed + 1)
    .execute();
  return rows.length > 0 && rows.length <= mostNamed ? { only: rows.map(({ id }) => id) } : 'all';
}

const onlyOf = (accounts: Accounts): string | undefined =>
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
  const { created, all, any, choice, isWalk, hasGin } = conditions;
  const { lists, own } = ownedBy(accounts, conditions);
  const where = [...bounds(created, range), ...all, ...own];
  if (choice) {
    lists.push(sql`unnest(${choice.values}::${sql.raw(choice.type)}[]) as choice (value)`);
    where.push(hasValue(choice.column, choice.type, sql.ref('choice.value')), notInWalk);
  }
  const plan = !isFiltered(conditions) ? sql`` : isWalk && !hasGin ? plannedInOrder : plannedAnew;
  if (lists.length === 0 && any.length === 0 && !isWalk)
    return sql<TransactionItem>`${plan}${select(what, where, range)}`;
  const searches = any.length === 0 ? [where] : any.map((one) => [...where, one]);
  // Otherwise Citus does not infer the account from the rows of the page, and asks every server.
  const only = onlyOf(accounts);
  const ofOnly = only === undefined ? sql`` : sql`and transactions.merchant_account_id = ${only}`;
  return sql<TransactionItem>`${plan}
    select ${what}
    from (${merged(lists, searches, range)}) as page
    join transactions on transactions.merchant_account_id = page.merchant_account_id and transactions.id = page.id ${ofOnly}
    ${nearest('page', range)}`;
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

const nearest = (from: string, { side }: Range) => {
  const direction = sql.raw(side === 'newer' ? 'asc' : 'desc');
  return sql`order by ${sql.ref(`${from}.created_at`)} ${direction}, ${sql.ref(`${from}.id`)} ${direction}`;
};

const isFiltered = ({ all, ofAccount, any, choice }: Conditions): boolean =>
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
      : sql`unnest(${[...new Set(accounts.only)]}::text[]) as account (id)`;
  return {
    lists: [list],
    own: [
      ...ofAccount.flatMap(({ plain, of }) => (hasIdentifier ? [plain] : [plain, of([joined])])),
      isHashed ? isHashedOf(joined) : isOf(joined),
    ],
  };
}

const isOneOf = (accounts: readonly string[]) =>
  sql<SqlBool>`transactions.merchant_account_id = any(${[...accounts]}::text[])`;

/** For several accounts on Citus, which sends it to all servers and merges their pages. */
export function flatRange(
  accounts: Accounts,
  { created, all, ofAccount, any, choice }: Conditions,
  range: Range,
  what: RawBuilder<unknown> = item,
): RawBuilder<TransactionItem> {
  const conditions: Condition[] = [
    accounts === 'all'
      ? sql<SqlBool>`${inEverywhere} ${acrossAccounts('flat-list')}`
      : isOneOf(accounts.only),
    ...bounds(created, range),
    ...all,
    ...ofAccount.map(({ plain }) => plain),
  ];
  if (any.length > 0) conditions.push(sql`(${sql.join(any, sql` or `)})`);
  if (choice)
    conditions.push(
      sql`${sql.ref(`transactions.${choice.column}`)} = any(${choice.values}::${sql.raw(choice.type)}[])`,
    );
  return sql<TransactionItem>`${plannedAnew} ${select(what, conditions, range)}`;
}

// Not a parameter: without knowing it, a plan for any values sorts a whole account.
const limitTo = ({ limit }: Range) => sql.raw(`limit ${limit}`);

// The row of a cursor is within the bounds, so the bound on the side of the cursor is left out. With both, PostgreSQL would
// start at the bound and scan up to the cursor (68 ms instead of 0.3 ms in the middle of a million rows).
function bounds({ from, to }: Conditions['created'], { at, side }: Range): Condition[] {
  const createdAt = sql.ref('transactions.created_at');
  const beyond = (than: '<' | '>') =>
    at &&
    sql<SqlBool>`(${createdAt}, transactions.id) ${sql.raw(than)} (${timestamp(at.createdAt)}::timestamptz, ${at.id}::uuid)`;
  const lower = side === 'newer' ? beyond('>') : undefined;
  const upper = side === 'older' ? beyond('<') : undefined;
  return [
    lower ?? (from && sql<SqlBool>`${createdAt} >= ${timestamp(from)}`),
    upper ?? (to && sql<SqlBool>`${createdAt} <= ${timestamp(to)}`),
  ].filter((condition) => condition !== undefined);
}
