// Reads and writes transactions, single and in batches. Lists with filters are in list.ts.
import { sql, type RawBuilder, type Selectable } from 'kysely';
import { acrossAccounts, isCitus } from '../../kit/database/across-accounts.ts';
import { timestamp } from '../../kit/database/columns.ts';
import type { Db, Tx } from '../../kit/database/database.ts';
import { copyRow, copyRows } from '../../kit/database/protocol.ts';
import type { UnitOfWork } from '../../kit/database/unit-of-work.ts';
import type { EventTx } from '../../kit/events/outbox.ts';
import { inSlices } from '../../kit/rules/async.ts';
import { readUuid, notAfter } from '../../kit/rules/values.ts';
import { erasableProperties } from './facts.ts';
import { filterColumns, transactionColumns, type NewTransaction, type TransactionsTable } from './table.ts';

export type { NewTransaction, Transaction } from './table.ts';
export type TransactionRow = Selectable<TransactionsTable>;

const batchSize = 1000;
const shownTypes = Object.entries(transactionColumns);
const filters = Object.entries(filterColumns);
const columnTypes = [...shownTypes, ...filters.map(([name, { sql: type }]) => [name, type] as const)];
const columnList = sql.join(columnTypes.map(([name]) => sql.ref(name)));
const recordList = sql.join(columnTypes.map(([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`));

/**
 * Inserts any number of rows, 1,000 per statement, in two steps: rows are encoded while the database is busy with others, and
 * stored later. Rows whose ID exists already are left out. Call `analyzeTransactions` after inserting very many.
 */
export async function prepareTransactions(
  rows: readonly NewTransaction[],
  /** Without events nobody needs the stored rows. */
  { publish }: Pick<UnitOfWork, 'publish'>,
): Promise<(db: EventTx) => Promise<StoredTransactions>> {
  const batches: Prepared[] = [];
  for (let from = 0; from < rows.length; from += batchSize) {
    const batch = rows.slice(from, from + batchSize);
    batches.push(publish ? insertOf(batch.map(recordOf)) : await copyOfNew(batch));
  }
  return async (db) => {
    const stored: StoredTransactions = { rows: [], refused: [] };
    for (const [index, { ids, insert }] of batches.entries()) {
      const { inserted, returned } = await insert(db);
      stored.rows.push(...returned);
      // Of two rows with the same ID the first is inserted.
      for (const [place, id] of ids.entries())
        if (!inserted.delete(id)) stored.refused.push(index * batchSize + place);
    }
    return stored;
  };
}

interface StoredTransactions {
  rows: TransactionRow[];
  /** Positions of those whose ID exists already. */
  refused: number[];
}

interface Prepared {
  ids: string[];
  insert: (db: Tx) => Promise<{ inserted: Set<string>; returned: TransactionRow[] }>;
}

function insertOf(batch: Written[]): Prepared {
  const insert: Prepared['insert'] = async (db) => {
    const { rows } = await sql<TransactionRow>`
      insert into transactions (${columnList})
      select ${columnList} from json_to_recordset(${JSON.stringify(batch)}::json) as given (${recordList})
      on conflict do nothing returning *`.execute(db);
    return { inserted: new Set(rows.map(({ id }) => id)), returned: rows };
  };
  return { ids: batch.map(({ id }) => id), insert };
}

/** Faster, but fails if another transaction stores one of the IDs between the two statements. */
async function copyOfNew(batch: readonly NewTransaction[]): Promise<Prepared> {
  const ids: string[] = [];
  const encoded = new Map<string, string>();
  await inSlices(batch, (row) => {
    const written = columnsOf(row);
    ids.push(written.id);
    if (!encoded.has(written.id)) encoded.set(written.id, copyRow(columnTypes, written));
  });
  const insert: Prepared['insert'] = async (db) => {
    for (const id of await listKnownIds(db, [...encoded.keys()])) encoded.delete(id);
    await copyRows(db, 'transactions', columnTypes, [...encoded.values()]);
    return { inserted: new Set(encoded.keys()), returned: [] };
  };
  return { ids, insert };
}

async function listKnownIds(db: Tx, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from transactions where id = any(${ids}::uuid[])
    ${acrossAccounts('import-duplicates')}`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * After very many rows the planner needs new statistics before autovacuum gets to it. Fewer than autovacuum itself waits for (a tenth
 * of the table) change nothing that the planner knows, so they are left to it.
 */
export const analyzeTransactions = async (db: Tx, added: number): Promise<void> => {
  // Citus refuses it in a transaction that has read merchant accounts; there, autovacuum does it.
  if (isCitus(db)) return;
  const { rows } = await sql<{ before: number }>`
    select reltuples as before from pg_class where oid = 'transactions'::regclass`.execute(db);
  const { before = 0 } = rows[0] ?? {};
  if (added < 50 + before / 10) return;
  await sql`analyze transactions`.execute(db);
};

export const findTransaction = (db: Db, account: string, id: string): Promise<TransactionRow | undefined> =>
  selectOne(db, account, id, sql``);

/** Locks the row until the transaction ends, so that its state cannot change in between. */
export const lockTransaction = (db: Tx, account: string, id: string): Promise<TransactionRow | undefined> =>
  selectOne(db, account, id, sql`for update`);

async function selectOne(db: Db, account: string, text: string, lock: RawBuilder<unknown>) {
  const id = readUuid(text);
  if (id === undefined) return undefined;
  const { rows } = await sql<TransactionRow>`
    select * from transactions where merchant_account_id = ${account} and id = ${id} ${lock}`.execute(db);
  return rows[0];
}

/** Replaces all columns of a row but its key, also those for filters. */
export async function updateTransaction(db: EventTx, transaction: NewTransaction): Promise<TransactionRow> {
  // Citus refuses an assignment to the account, even of the same value.
  const every = columnTypes
    .map(([name]) => name)
    .filter((name) => name !== 'merchant_account_id' && name !== 'id');
  const { rows } = await sql<TransactionRow>`
    ${assign(transaction.merchant_account_id, [transaction], every)} returning transactions.*`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('The transaction to update does not exist.');
  return row;
}

/** Writes what an erasure may change and nothing else, `updated_at` included. Has no event: see erasure/erase-buyer.ts. */
export async function writeErasedTransactions(
  db: Tx,
  account: string,
  rows: readonly NewTransaction[],
): Promise<void> {
  if (rows.length === 0) return;
  const names = new Set([...erasableProperties, ...Object.keys(filterColumns)]);
  await assign(account, rows, [...names]).execute(db);
}

function assign(
  account: string,
  rows: readonly NewTransaction[],
  names: readonly string[],
): RawBuilder<unknown> {
  const assignments = sql.join(names.map((name) => sql`${sql.ref(name)} = given.${sql.ref(name)}`));
  return sql`
    update transactions set ${assignments}
    from json_to_recordset(${JSON.stringify(rows.map(recordOf))}::json) as given (${recordList})
    where transactions.merchant_account_id = ${account} and transactions.id = given.id`;
}

type Written = Record<string, unknown> & { id: string };

function columnsOf(given: NewTransaction): Written {
  const values: Record<string, unknown> = {};
  for (const [name, type] of shownTypes)
    values[name] = toColumnValue(type, given[name as keyof typeof transactionColumns]);
  for (const [name, { of }] of filters) values[name] = of(given);
  // Snapshots are returned as they are stored, so the timestamp inside must have the format of the API.
  const { payment_method: method } = given;
  if (method?.last_replaced_at)
    values.payment_method = { ...method, last_replaced_at: notAfter(method.last_replaced_at).toISOString() };
  return values as Written;
}

function recordOf(given: NewTransaction): Written {
  const values = columnsOf(given);
  for (const [name, value] of Object.entries(values))
    if (value instanceof Date) values[name] = timestamp(value);
  return values;
}

function toColumnValue(type: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (type === 'timestamptz') return notAfter(value);
  return type === 'uuid' ? (readUuid(value) ?? value) : value;
}

/** How many transactions of a seed exist already. */
export async function countSeeded(db: Db, account: string, seed: number): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from transactions
    where merchant_account_id = ${account} and metadata ->> 'seed' = ${String(seed)}`.execute(db);
  return rows[0]?.total ?? 0;
}
