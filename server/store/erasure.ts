// Finds and rewrites what is stored of one buyer, in batches. What of it is personal is decided in domain/personal-data.ts.
// The rows of a batch stay locked until its transaction ends, so no change in between is lost.
import { sql } from 'kysely';
import { acrossAccounts } from './across-accounts.ts';
import type { Db, Tx } from './database.ts';
import { hasValue, isOf } from './lookup.ts';
import type { TransactionRow } from './transactions.ts';

const batchSize = 500;

/** Also finds one that is erased. */
export const lockBuyer = (db: Tx, account: string, id: string) =>
  db
    .selectFrom('buyers')
    .select(['merchant_account_id', 'external_identifier', 'erased_at'])
    .where('merchant_account_id', '=', account)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

const erasedBuyer = {
  display_name: null,
  account_number: null,
  billing_details: null,
} as const;

/** From now on nothing can be stored for the buyer. Its external identifier is still needed to find its transactions. */
export const markBuyerErased = (db: Tx, account: string, id: string, now: Date) =>
  db
    .updateTable('buyers')
    .set({ ...erasedBuyer, erased_at: now, updated_at: now })
    .where('merchant_account_id', '=', account)
    .where('id', '=', id)
    .execute();

/** The last step. */
export const eraseExternalIdentifier = (db: Tx, account: string, id: string) =>
  db
    .updateTable('buyers')
    .set({ external_identifier: null })
    .where('merchant_account_id', '=', account)
    .where('id', '=', id)
    .where('external_identifier', 'is not', null)
    .execute();

export async function listCardIds(db: Db, account: string, buyerId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('payment_methods')
    .select('id')
    .where('merchant_account_id', '=', account)
    .where('buyer_id', '=', buyerId)
    .execute();
  return rows.map(({ id }) => id);
}

/** `failed` is the state of a card that cannot be used, and whose number is not stored. */
const erasedCard = {
  status: 'failed',
  external_identifier: null,
  bin: null,
  expiration_date: null,
  label: null,
  fingerprint: null,
  number_sealed: null,
  redirect_url: null,
  verification_error: null,
  has_replacement: false,
  replacement: null,
  replacement_found_at: null,
} as const;

/** Cards of the buyer that are not erased yet, locked in the order that others use. */
export async function lockCards(db: Tx, account: string, buyerId: string): Promise<string[]> {
  const isLeft = sql.join(
    Object.entries(erasedCard).map(([name, value]) => sql`${sql.ref(name)} is distinct from ${value}`),
    sql` or `,
  );
  const { rows } = await sql<{ id: string }>`
    select id from payment_methods
    where merchant_account_id = ${account} and buyer_id = ${buyerId} and (${isLeft})
    order by id for update`.execute(db);
  return rows.map(({ id }) => id);
}

export const eraseCards = (db: Tx, account: string, ids: readonly string[], now: Date) =>
  db
    .updateTable('payment_methods')
    .set({ ...erasedCard, updated_at: now })
    .where('merchant_account_id', '=', account)
    .where('id', '=', sql<string>`any(${[...ids]}::uuid[])`)
    .execute();

/** How transactions name the buyer. Each column has an index for it, per merchant account. */
export interface TransactionMatch {
  account: string;
  column: 'buyer_id' | 'payment_method_id' | 'buyer_external_identifier';
  value: string;
}

interface Place {
  id: string;
  created_at: Date;
}

/** The next batch after that place, and where the one after it begins; no place when this is the last. */
export async function lockTransactions(
  db: Tx,
  { account, column, value }: TransactionMatch,
  after: Place | undefined,
): Promise<{ rows: TransactionRow[]; next: Place | undefined }> {
  const type = column === 'buyer_external_identifier' ? 'text' : 'uuid';
  const isMatch = hasValue(column, type, sql`${value}::${sql.raw(type)}`);
  const isNext = after ? sql`(created_at, id) < (${after.created_at}, ${after.id}::uuid)` : sql`true`;
  const { rows } = await sql<TransactionRow>`
    select * from transactions where ${isOf(sql`${account}`)} and ${isMatch} and ${isNext}
    order by created_at desc, id desc limit ${batchSize} for update`.execute(db);
  return { rows, next: rows.length < batchSize ? undefined : rows.at(-1) };
}

/** Which of these IDs have a record. */
export async function listBuyerIds(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from buyers where id::text = any(${[...ids]}::text[])
    ${acrossAccounts('buyers-of-others')}`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

const scannedAtOnce = 2000;

/** Where an event may name a buyer or a card. */
const namedIn = [
  sql`target ->> 'id'`,
  sql`target -> 'buyer' ->> 'id'`,
  sql`target -> 'payment_method' ->> 'id'`,
];

/** What an event of the buyer names at least one of. */
export interface Traces {
  /** Of the buyer and its cards, in lower case. */
  ids: readonly string[];
  externalIdentifier: string | null;
}

/** Where a page ends, in the order of time and ID. */
export interface EventKey {
  created_at: Date;
  id: string;
}

/** Looks through the next events of an account, and returns those that may concern the buyer. No place after the last page. */
export async function listEventKeys(
  db: Db,
  account: string,
  { ids, externalIdentifier }: Traces,
  after: EventKey | undefined,
): Promise<{ keys: EventKey[]; next: EventKey | undefined }> {
  // In pages of all events: a search for the next match could go through the whole table in one statement. Values are compared,
  // because a search of the text for each of hundreds of cards takes longer than a statement may.
  const named = sql.join(
    namedIn.map((value) => sql`lower(${value}) = any(${[...ids]}::text[])`),
    sql` or `,
  );
  const isNext = after ? sql`(created_at, id) > (${after.created_at}, ${after.id}::uuid)` : sql`true`;
  const { rows } = await sql<EventKey & { isFound: boolean | null }>`
    select created_at, id, ${named} or target -> 'buyer' ->> 'external_identifier' = ${externalIdentifier} as "isFound"
    from (select created_at, id, body::json -> 'target' as target from events
      where merchant_account_id = ${account} and ${isNext}
      order by created_at, id limit ${scannedAtOnce}) as page order by created_at, id`.execute(db);
  return {
    keys: rows.flatMap(({ created_at, id, isFound }) => (isFound ? { created_at, id } : [])),
    next: rows.length < scannedAtOnce ? undefined : rows.at(-1),
  };
}

export interface EventBody extends EventKey {
  body: string;
}

const keyColumns = sql`given (created_at timestamptz, id uuid`;

/** In the order of their keys, as others lock them, so that two transactions cannot deadlock. */
export async function lockEvents(db: Tx, account: string, keys: readonly EventKey[]): Promise<EventBody[]> {
  const times = keys.map(({ created_at }) => created_at.getTime());
  const { rows } = await sql<EventBody>`
    select created_at, id, body from events where merchant_account_id = ${account}
      and created_at between ${new Date(Math.min(...times))} and ${new Date(Math.max(...times))}
      and (created_at, id) in (
        select created_at, id from json_to_recordset(${JSON.stringify(keys)}::json) as ${keyColumns}))
    order by created_at, id for update`.execute(db);
  return rows;
}

/** Also those of deliveries under way: the next attempt signs and sends the new text. */
export const writeEvents = (db: Tx, account: string, events: readonly EventBody[]) =>
  sql`
    update events set body = given.body
    from json_to_recordset(${JSON.stringify(events)}::json) as ${keyColumns}, body text)
    where events.merchant_account_id = ${account} and events.created_at = given.created_at
      and events.id = given.id`.execute(db);

export const answerTables = ['idempotency_answers'] as const;
type AnswerTable = (typeof answerTables)[number];

interface SealedAnswer {
  id: string;
  created_at: Date;
  answer_sealed: string;
}

type FoundAnswer = SealedAnswer & { slot: string };

/** All kept answers of an account, because only the key opens them. */
export async function lockAnswers(
  db: Tx,
  table: AnswerTable,
  account: string,
  after: Pick<SealedAnswer, 'id' | 'created_at'> | undefined,
): Promise<{ rows: FoundAnswer[]; next: FoundAnswer | undefined }> {
  const isNext = after ? sql`(id, created_at) > (${after.id}::uuid, ${after.created_at})` : sql`true`;
  const { rows } = await sql<FoundAnswer>`
    select id, created_at, slot, answer_sealed from ${sql.table(table)}
    where merchant_account_id = ${account} and ${isNext} and answer_sealed is not null
    order by id, created_at limit ${batchSize} for update`.execute(db);
  return { rows, next: rows.length < batchSize ? undefined : rows.at(-1) };
}

export const writeAnswers = (db: Tx, table: AnswerTable, account: string, answers: readonly SealedAnswer[]) =>
  sql`
    update ${sql.table(table)} as kept set answer_sealed = given.answer_sealed
    from json_to_recordset(${JSON.stringify(answers)}::json) as ${keyColumns}, answer_sealed text)
    where kept.merchant_account_id = ${account} and kept.id = given.id
      and kept.created_at = given.created_at`.execute(db);

/** The statistics of the planner hold samples of the values. */
export async function refreshStatistics(db: Tx): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(db);
  await sql`analyze buyers, payment_methods, transactions, events`.execute(db);
}
