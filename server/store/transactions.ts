// Transactions: written in bulk by imports and seeds, moved one at a time by operators, and listed with filters.
import { sql, type RawBuilder, type Selectable, type SqlBool } from 'kysely';
import type { components } from '../../generated/types.ts';
import type { Db } from './database.ts';
import { pageThrough, stamp, type Page, type PageRequest, type Range } from './paging.ts';
import {
  conditionsOf,
  isStorable,
  notAfter,
  readUuid,
  type Condition,
  type Conditions,
  type TransactionFilters,
} from './transaction-filters.ts';
import { columnTypes, type TransactionsTable } from './transactions-table.ts';

type Schemas = components['schemas'];
export type Transaction = Schemas['Transaction'];
export type TransactionRow = Selectable<TransactionsTable>;

/** The resource, and what it does not show but can be filtered by. */
export interface NewTransaction extends Transaction {
  metadata?: Record<string, string> | null | undefined;
  payment_source?: Schemas['PaymentSource'] | null | undefined;
  merchant_initiated?: boolean | null | undefined;
  is_subsequent_payment?: boolean | null | undefined;
  payment_service_transaction_id?: string | null | undefined;
}

const batchSize = 1000;
const columns = Object.keys(columnTypes) as (keyof TransactionsTable)[];
const columnList = sql.join(columns.map((name) => sql.ref(name)));
const recordList = sql.join(columns.map((name) => sql`${sql.ref(name)} ${sql.raw(columnTypes[name])}`));

/**
 * Inserts any number of rows, one statement per thousand. A row whose id exists already is left out; the answer is the
 * places of these in `rows`. Whoever inserts very many should `analyzeTransactions` afterwards.
 */
export async function insertTransactions(db: Db, rows: readonly NewTransaction[]): Promise<number[]> {
  const refused: number[] = [];
  for (let start = 0; start < rows.length; start += batchSize) {
    const batch = rows.slice(start, start + batchSize).map(columnsOf);
    const { rows: returned } = await sql<{ id: string }>`
      insert into transactions (${columnList})
      select ${columnList} from json_to_recordset(${JSON.stringify(batch)}::json) as given (${recordList})
      on conflict (id) do nothing returning id`.execute(db);
    const inserted = new Set(returned.map(({ id }) => id));
    // Of two with the same id the first is inserted.
    for (const [index, { id }] of batch.entries()) if (!inserted.delete(id)) refused.push(start + index);
  }
  return refused;
}

/** Without it the planner knows nothing of a million new rows for a minute or so. */
export const analyzeTransactions = async (db: Db): Promise<void> => {
  await sql`analyze transactions`.execute(db);
};

/** Why a transaction that the contract accepts cannot be stored all the same; undefined when it can. */
export function unstorable(transaction: NewTransaction): string | undefined {
  if (!isStorable(JSON.stringify(transaction)))
    return 'has text with U+0000 or with half of a surrogate pair, which cannot be stored';
  for (const name of ['created_at', 'updated_at'] as const) {
    const year = notAfter(transaction[name]).getUTCFullYear();
    if (year < 0 || year > 9999) return `${name} is not in the years 0000 to 9999 of UTC`;
  }
  return undefined;
}

export const findTransaction = (db: Db, id: string): Promise<TransactionRow | undefined> =>
  selectOne(db, id, sql``);

/** Until the end of the transaction nobody else changes it. */
export const lockTransaction = (db: Db, id: string): Promise<TransactionRow | undefined> =>
  selectOne(db, id, sql`for update`);

async function selectOne(db: Db, text: string, lock: RawBuilder<unknown>) {
  const id = readUuid(text);
  if (id === undefined) return undefined;
  const { rows } = await sql<TransactionRow>`select * from transactions where id = ${id} ${lock}`.execute(db);
  return rows[0];
}

type Fixed = 'type' | 'id' | 'merchant_account_id' | 'created_at' | 'updated_at';
/** Whoever changes something says when. */
export type TransactionPatch = Partial<Omit<NewTransaction, Fixed>> & Pick<NewTransaction, 'updated_at'>;

/** Undefined when there is no such transaction. */
export async function saveTransaction(
  db: Db,
  id: string,
  patch: TransactionPatch,
): Promise<TransactionRow | undefined> {
  const before = await lockTransaction(db, id);
  if (!before) return undefined;
  const after = columnsOf({ ...transactionOf(before), ...patch });
  const assignments = sql.join(columns.map((name) => sql`${sql.ref(name)} = given.${sql.ref(name)}`));
  const { rows } = await sql<TransactionRow>`
    update transactions set ${assignments}
    from json_to_recordset(${JSON.stringify([after])}::json) as given (${recordList})
    where transactions.id = given.id returning transactions.*`.execute(db);
  return rows[0];
}

/** Of one account, of some, or (with undefined) of all; newest first. */
export async function listTransactionPage(
  db: Db,
  accounts: readonly string[] | undefined,
  filters: TransactionFilters,
  page: PageRequest,
): Promise<Page<Transaction>> {
  const conditions = conditionsOf(filters);
  const read = async (range: Range) => (await transactionRange(accounts, conditions, range).execute(db)).rows;
  const { rows, ...around } = await pageThrough(read, page);
  return { rows: rows.map(present), ...around };
}

/**
 * One range of one index, if there is one account and each filter has one value. Otherwise one for each account, each value
 * of one filter and each field that is searched, no longer than the page, and the page is what is nearest in all of them.
 */
export function transactionRange(
  accounts: readonly string[] | undefined,
  { created, all, any, choice }: Conditions,
  range: Range,
): RawBuilder<TransactionRow> {
  const conditions = [...bounds(created, range), ...all];
  const sources: RawBuilder<unknown>[] = [];
  const account = sql.ref('transactions.merchant_account_id');
  if (accounts?.length === 1) conditions.push(sql`${account} = ${accounts[0]}`);
  else if (accounts) {
    sources.push(sql`unnest(${[...new Set(accounts)]}::text[]) as account (id)`);
    conditions.push(sql`${account} = account.id`);
  } else if (all.length + any.length > 0 || choice) {
    sources.push(sql`merchant_accounts as account`);
    conditions.push(sql`${account} = account.id`);
  } else conditions.push(sql`length(${account}) > 0`); // transactions_newest_everywhere
  if (choice) {
    sources.push(sql`unnest(${choice.values}::${sql.raw(choice.type)}[]) as choice (value)`);
    conditions.push(sql`${sql.ref(`transactions.${choice.column}`)} = choice.value`);
  }
  const direction = sql.raw(range.side === 'newer' ? 'asc' : 'desc');
  const nearest = (from: string, limit = sql`limit ${range.limit}`) =>
    sql`order by ${sql.ref(`${from}.created_at`)} ${direction}, ${sql.ref(`${from}.id`)} ${direction} ${limit}`;
  const select = (what: RawBuilder<unknown>, where: readonly Condition[]) =>
    sql`select ${what} from transactions ${where.length > 0 ? sql`where ${sql.join(where, sql` and `)}` : sql``}
      ${nearest('transactions')}`;

  if (sources.length === 0 && any.length <= 1)
    return sql<TransactionRow>`${select(sql`*`, [...conditions, ...any])}`;
  const key = sql`transactions.created_at, transactions.id`;
  const parts = any.length === 0 ? [conditions] : any.map((one) => [...conditions, one]);
  // With `union` a row that is found by two of its fields is there once.
  const found = sql`lateral (${sql.join(
    parts.map((where) => sql`(${select(key, where)})`),
    sql` union `,
  )}) as found`;
  return sql<TransactionRow>`
    select transactions.*
    from (select found.* from ${sql.join([...sources, found], sql` cross join `)} ${nearest('found')}) as page
    join transactions on transactions.id = page.id
    ${nearest('page', sql``)}`;
}

// A cursor stands on a row of this very list, so it is within the bounds. The bound on its side is left out: PostgreSQL
// would begin to read there, and walk all the way to the cursor (68 ms instead of 0.3 in the middle of a million rows).
function bounds({ from, to }: Conditions['created'], { at, side }: Range): Condition[] {
  const createdAt = sql.ref('transactions.created_at');
  const beyond = (than: '<' | '>') =>
    at &&
    sql<SqlBool>`(${createdAt}, transactions.id) ${sql.raw(than)} (${stamp(at.createdAt)}::timestamptz, ${at.id}::uuid)`;
  const lower = side === 'newer' ? beyond('>') : undefined;
  const upper = side === 'older' ? beyond('<') : undefined;
  return [
    lower ?? (from && sql<SqlBool>`${createdAt} >= ${stamp(from)}`),
    upper ?? (to && sql<SqlBool>`${createdAt} <= ${stamp(to)}`),
  ].filter((condition) => condition !== undefined);
}

type Columns = Record<keyof TransactionsTable, unknown> & { id: string };

// What the filters look for is worked out here and nowhere else, so it cannot contradict the rest of the row.
function columnsOf(given: NewTransaction): Columns {
  const { buyer, payment_method: method, payment_service: service } = given;
  const redemptions = given.gift_card_redemptions;
  const cards = redemptions.flatMap(({ gift_card }) => gift_card ?? []);
  const replacedAt = method?.last_replaced_at;
  return {
    ...given,
    id: uuidOr(given.id),
    created_at: stamp(notAfter(given.created_at)),
    updated_at: stamp(notAfter(given.updated_at)),
    checkout_session_id: given.checkout_session_id && uuidOr(given.checkout_session_id),
    payment_method: method && {
      ...method,
      last_replaced_at: replacedAt ? notAfter(replacedAt).toISOString() : null,
    },
    metadata: given.metadata ?? {},
    payment_source: given.payment_source ?? null,
    merchant_initiated: given.merchant_initiated ?? false,
    is_subsequent_payment: given.is_subsequent_payment ?? false,
    payment_service_transaction_id: given.payment_service_transaction_id ?? null,
    buyer_id: buyer && uuidOr(buyer.id),
    buyer_external_identifier: buyer?.external_identifier ?? null,
    payment_method_id: method && uuidOr(method.id),
    payment_method_label: method?.label ?? null,
    payment_method_bin: method?.details.bin ?? null,
    payment_service_id: (service && readUuid(service.id)) ?? null,
    gift_card_ids: orNull(cards.flatMap(({ id }) => (id === null ? [] : uuidOr(id)))),
    // The filter has exactly four characters, and an index has no room for a novel.
    gift_card_last4s: orNull(
      cards.flatMap(({ last4 }) => (last4 !== null && /^[^]{4}$/u.test(last4) ? last4 : [])),
    ),
    has_gift_card_redemptions: redemptions.length > 0,
    has_refunds: given.refunded_amount > 0 || redemptions.some(({ refunded_amount }) => refunded_amount > 0),
    has_settlements: given.settled || given.settled_amount > 0,
  };
}

const uuidOr = (text: string): string => readUuid(text) ?? text;
const orNull = (values: string[]): string[] | null => (values.length > 0 ? [...new Set(values)] : null);

/** As it was given to `insertTransactions`. */
export const transactionOf = (row: TransactionRow): NewTransaction => ({
  ...present(row),
  metadata: row.metadata,
  payment_source: row.payment_source,
  merchant_initiated: row.merchant_initiated,
  is_subsequent_payment: row.is_subsequent_payment,
  payment_service_transaction_id: row.payment_service_transaction_id,
});

/** As the API shows it, in answers and in events. */
export function present(row: TransactionRow): Transaction {
  return {
    type: 'transaction',
    id: row.id,
    amount: row.amount,
    authorized_amount: row.authorized_amount,
    captured_amount: row.captured_amount,
    refunded_amount: row.refunded_amount,
    buyer: row.buyer,
    checkout_session_id: row.checkout_session_id,
    country: row.country,
    currency: row.currency,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    external_identifier: row.external_identifier,
    gift_card_redemptions: row.gift_card_redemptions,
    instrument_type: row.instrument_type,
    intent: row.intent,
    merchant_account_id: row.merchant_account_id,
    method: row.method,
    payment_method: row.payment_method,
    payment_service: row.payment_service,
    pending_review: row.pending_review,
    raw_response_code: row.raw_response_code,
    raw_response_description: row.raw_response_description,
    reconciliation_id: row.reconciliation_id,
    status: row.status,
    settled: row.settled,
    settled_amount: row.settled_amount,
    settled_currency: row.settled_currency,
  };
}
