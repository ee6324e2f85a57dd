// Finds and rewrites what is stored of one buyer, in batches. What of it is personal is decided in domain/personal-data.ts.
// The rows of a batch stay locked until its transaction ends, so no change in between is lost.
import { sql, type RawBuilder } from 'kysely';
import { acrossAccounts } from './across-accounts.ts';
import type { Db, Tx } from './database.ts';
import type { TransactionRow } from './transactions.ts';

const batchSize = 500;
const firstId = '00000000-0000-0000-0000-000000000000';

/** Also finds one that is erased. */
export const lockBuyer = (db: Tx, account: string, id: string) =>
  db
    .selectFrom('buyers')
    .select(['merchant_account_id', 'external_identifier', 'erased_at'])
    .where('merchant_account_id', '=', account)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

/** From now on nothing can be stored for the buyer. Its external identifier is still needed to find its transactions. */
export const markBuyerErased = (db: Tx, account: string, id: string, now: Date) =>
  db
    .updateTable('buyers')
    .set({ erased_at: now, updated_at: now, display_name: null, account_number: null, billing_details: null })
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
  account_fingerprint: null,
  number_sealed: null,
  redirect_url: null,
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
  const name = sql.ref(column);
  // The index has the first 201 characters of a text.
  const isMatch: RawBuilder<unknown> =
    column === 'buyer_external_identifier'
      ? sql`left(${name}, 201) = left(${value}, 201) and ${name} = ${value}`
      : sql`${name} = ${value}::uuid`;
  const isNext = after ? sql`(created_at, id) < (${after.created_at}, ${after.id}::uuid)` : sql`true`;
  const { rows } = await sql<TransactionRow>`
    select * from transactions where merchant_account_id = ${account} and ${isMatch} and ${isNext}
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

/** What an event of the buyer names at least one of. */
export interface Traces {
  /** Of the buyer and its cards, in lower case. */
  ids: readonly string[];
  externalIdentifier: string | null;
}

/** Looks through the next events, and returns those that may concern the buyer. The place of the last page is undefined. */
export async function listEventIds(
  db: Db,
  { ids, externalIdentifier }: Traces,
  after = firstId,
): Promise<{ ids: string[]; next: string | undefined }> {
  // In pages of all events: a search for the next match could go through the whole table in one statement. Values are compared,
  // because a search of the text for each of hundreds of cards takes longer than a statement may.
  const named = sql.join(
    [sql`target ->> 'id'`, sql`target -> 'buyer' ->> 'id'`, sql`target -> 'payment_method' ->> 'id'`].map(
      (value) => sql`lower(${value}) = any(${[...ids]}::text[])`,
    ),
    sql` or `,
  );
  const { rows } = await sql<{ id: string; isFound: boolean | null }>`
    select id, ${named} or target -> 'buyer' ->> 'external_identifier' = ${externalIdentifier} as "isFound"
    from (select id, body::json -> 'target' as target from events
      where id > ${after}::uuid order by id limit ${scannedAtOnce}) as page order by id`.execute(db);
  return {
    ids: rows.flatMap(({ id, isFound }) => (isFound ? id : [])),
    next: rows.length < scannedAtOnce ? undefined : rows.at(-1)?.id,
  };
}

export interface EventBody {
  id: string;
  body: string;
}

export async function lockEvents(db: Tx, ids: readonly string[]): Promise<EventBody[]> {
  const { rows } = await sql<EventBody>`
    select id, body from events where id = any(${[...ids]}::uuid[]) order by id for update`.execute(db);
  return rows;
}

/** Also those of deliveries under way: the next attempt signs and sends the new text. */
export const writeEvents = (db: Tx, events: readonly EventBody[]) =>
  sql`
    update events set body = given.body
    from json_to_recordset(${JSON.stringify(events)}::json) as given (id uuid, body text)
    where events.id = given.id`.execute(db);

interface SealedAnswer {
  id: string;
  answer_sealed: string;
}

/** All kept answers, because only the key opens them. */
export async function lockAnswers(
  db: Tx,
  after = firstId,
): Promise<{ rows: (SealedAnswer & { slot: string })[]; next: string | undefined }> {
  const { rows } = await sql<SealedAnswer & { slot: string }>`
    select id, slot, answer_sealed from idempotency_keys where id > ${after}::uuid and answer_sealed is not null
    order by id limit ${batchSize} for update`.execute(db);
  return { rows, next: rows.length < batchSize ? undefined : rows.at(-1)?.id };
}

export const writeAnswers = (db: Tx, answers: readonly SealedAnswer[]) =>
  sql`
    update idempotency_keys set answer_sealed = given.answer_sealed
    from json_to_recordset(${JSON.stringify(answers)}::json) as given (id uuid, answer_sealed text)
    where idempotency_keys.id = given.id`.execute(db);

/** The statistics of the planner hold samples of the values. */
export async function refreshStatistics(db: Tx): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(db);
  await sql`analyze buyers, payment_methods, transactions, events`.execute(db);
}
