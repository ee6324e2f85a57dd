// Finds and erases what is stored of one buyer, in batches, and what all erasures share. What is personal is said in
// the facts of tables.
import { sql, type RawBuilder } from 'kysely';
import { acrossAccounts } from '../../kit/database/across-accounts.ts';
import { notBack } from '../../kit/database/columns.ts';
import type { Db, Tx } from '../../kit/database/database.ts';
import type { Work } from '../../kit/database/unit-of-work.ts';
import type { PageEnd } from '../../kit/events/delivery-list.ts';
import { deleteDeliveriesOf } from '../../kit/events/outbox.ts';
import { idempotencyKeys } from '../../kit/idempotency/facts.ts';
import type { DatabaseTime } from '../../kit/rules/database-time.ts';
import { erasedValues, type ColumnRules } from '../../kit/rules/erasure.ts';
import { buyers } from '../buyers/facts.ts';
import { hasValue, hasValueOf, isOf } from '../transactions/lookup.ts';
import type { TransactionRow } from '../transactions/queries.ts';
import { nextEvents, noteOf, pageOf, type FoundPage, type FoundRow, type Place } from './pages.ts';

const batchSize = 500;

export interface Person {
  id: string;
  /** Empty when transactions name the buyer and there is no record of it. */
  account: string;
  externalIdentifier: string | null;
  /** The IDs of its records, such as its cards. */
  records: string[];
}

// An erasure that was begun is noted in the settings, by what the operator calls to continue it.

/** As 1.1.0 has it. */
export const erasureOfBuyer = (id: string) => `erasure of ${id}`;

/** `command`: without `payments`. */
export const erasureBy = (command: string) => `erasure: ${command}`;

/** Until `endErasure`, the next run knows that there is something left to do, even if it finds no record to change. */
export const beginErasure = ({ db, now }: Work, marks: readonly string[]) =>
  sql`
    insert into settings (name, value) select name, ${now.toISOString()} from unnest(${marks}::text[]) as name
    on conflict do nothing`.execute(db);

export const endErasure = async ({ db }: Work, marks: readonly string[]): Promise<void> => {
  await db.deleteFrom('settings').where(isMarked(marks)).execute();
};

export const hasErasure = async (db: Db, marks: readonly string[]): Promise<boolean> =>
  (await db.selectFrom('settings').select('name').where(isMarked(marks)).limit(1).execute()).length > 0;

const isMarked = (marks: readonly string[]) => sql<boolean>`name = any(${marks}::text[])`;

/** The commands that continue what was interrupted, without `payments`. */
export async function listErasures(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from settings where name ~ '^erasure(:| of) ' order by name`.execute(db);
  return rows.map(({ name }) => name.replace(/^erasure of /, 'buyers erase ').replace(/^erasure: /, ''));
}

export const lockBuyerToErase = (db: Tx, account: string, id: string) =>
  db
    .selectFrom('buyers')
    .select('external_identifier')
    .where('merchant_account_id', '=', account)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

/** From now on nothing can be stored for the buyer. Its external identifier is still needed to find its transactions. */
export const eraseBuyerRecord = (db: Tx, account: string, id: string, now: DatabaseTime): Promise<number> => {
  const { external_identifier: _last, ...rules } = buyers.erasure;
  const erase = sql`
    update buyers set ${assignments(erasedValues(rules))}, erased_at = ${now}, updated_at = ${notBack(now)}
    where merchant_account_id = ${account} and id = ${id} and erased_at is null`;
  return countChanged(db, erase);
};

export function eraseExternalIdentifier(db: Tx, { account, id }: Person): Promise<number> {
  const erase = sql`
    update buyers set external_identifier = null
    where merchant_account_id = ${account} and id = ${id} and external_identifier is not null`;
  return countChanged(db, erase);
}

export const assignments = (values: [column: string, value: unknown][]) =>
  sql.join(values.map(([name, value]) => sql`${sql.ref(name)} = ${value}`));

export const countChanged = async (db: Tx, change: RawBuilder<unknown>): Promise<number> =>
  Number((await change.execute(db)).numAffectedRows ?? 0);

/** Whether a row has something to erase. */
export const hasSomething = (rules: ColumnRules): RawBuilder<boolean> => {
  const isLeft = erasedValues(rules).map(([name, value]) => sql`${sql.ref(name)} is distinct from ${value}`);
  return sql<boolean>`(${sql.join(isLeft, sql` or `)})`;
};

/** Those that are not erased yet. */
export function eraseRecords(
  db: Tx,
  [table, rules]: readonly [string, ColumnRules],
  { account, id }: Person,
  now: DatabaseTime,
): Promise<number> {
  const values = erasedValues(rules);
  if (values.length === 0) return Promise.resolve(0);
  const erase = sql`
    update ${sql.table(table)} set ${assignments(values)} ${'updated_at' in rules ? sql`, updated_at = ${notBack(now)}` : sql``}
    where merchant_account_id = ${account} and buyer_id = ${id} and ${hasSomething(rules)}`;
  return countChanged(db, erase);
}

export async function listRecords(db: Db, table: string, { account, id }: Person): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(table)}
    where merchant_account_id = ${account} and buyer_id = ${id}`.execute(db);
  return rows.map((row) => row.id);
}

/** A reference is the buyer's unless the ID beside it is the record of another one. */
const hasReference = (
  account: string | undefined,
  { id, account: own, externalIdentifier }: Person,
  reference: RawBuilder<unknown>,
  isOther: RawBuilder<unknown>,
): RawBuilder<boolean> =>
  account === own && externalIdentifier !== null
    ? sql`coalesce(${reference} = ${externalIdentifier} and not exists (
        select from buyers as other
        where other.merchant_account_id = ${account} and ${isOther} and other.id <> ${id}), false)`
    : sql`false`;

/** The accounts whose transactions name the buyer or its cards by ID. */
export async function listAccountsNaming(db: Db, { id, records }: Person): Promise<string[]> {
  const ways = [
    hasValue('buyer_id', 'uuid', sql`${id}::uuid`),
    ...(records.length > 0 ? [hasValueOf('payment_method_id', 'uuid', records)] : []),
  ].map(
    (match) => sql`(select distinct merchant_accounts.id from merchant_accounts
      join transactions on ${isOf(sql`merchant_accounts.id`)} and ${match})`,
  );
  const { rows } = await sql<{ id: string }>`
    ${sql.join(ways, sql` union `)} ${acrossAccounts('transactions-of-buyer')}`.execute(db);
  return rows.map((row) => row.id);
}

/** Transactions of an account that name the buyer or its cards. Locks nothing. */
export async function listTransactionsNaming(
  db: Db,
  account: string,
  { id, account: own, externalIdentifier, records }: Person,
  after: PageEnd | undefined,
): Promise<FoundPage> {
  const isNext = after ? sql`(created_at, id) < (${after.created_at}, ${after.id}::uuid)` : sql`true`;
  const page = sql`order by created_at desc, id desc limit ${batchSize}`;
  const ways = [
    hasValue('buyer_id', 'uuid', sql`${id}::uuid`),
    ...(records.length > 0 ? [hasValueOf('payment_method_id', 'uuid', records)] : []),
    ...(account === own && externalIdentifier !== null
      ? [hasValue('buyer_external_identifier', 'text', sql`${externalIdentifier}::text`)]
      : []),
  ].map(
    (match) => sql`(select created_at, id from transactions
      where ${isOf(sql`${account}`)} and ${match} and ${isNext} ${page})`,
  );
  const { rows } = await sql<FoundRow>`
    select ${account} as account, created_at, id
    from (${sql.join(ways, sql` union `)}) as found ${page}`.execute(db);
  return { rows, next: rows.length < batchSize ? undefined : rows.at(-1) };
}

/** `isOwn`: it is the buyer's, or nobody's and paid with its card. Otherwise somebody else may have paid with its card. */
export type FoundTransaction = TransactionRow & { isOwn: boolean; isCard: boolean };

/** The rows stay locked until the transaction ends, so that no change in between is lost. */
export async function lockTransactions(
  db: Tx,
  account: string,
  ids: readonly string[],
  person: Person,
): Promise<FoundTransaction[]> {
  const isReferenced = hasReference(
    account,
    person,
    sql`buyer_external_identifier`,
    sql`other.id = transactions.buyer_id`,
  );
  const { rows } = await sql<FoundTransaction>`
    select *, buyer is null or coalesce(buyer_id = ${person.id}, false) or ${isReferenced} as "isOwn",
      coalesce(payment_method_id = any(${person.records}::uuid[]), false) as "isCard"
    from transactions where merchant_account_id = ${account} and id = any(${[...ids]}::uuid[])
    order by id for update`.execute(db);
  return rows;
}

/** The kept answers that show these records: their IDs, or a query for them. */
export function eraseAnswers(
  db: Tx,
  account: string,
  shown: readonly string[] | RawBuilder<{ id: string }>,
): Promise<number> {
  const erase = sql`
    update idempotency_keys set ${assignments(erasedValues(idempotencyKeys.erasure))}
    where merchant_account_id = ${account} and answer_sealed is not null
      and resource_id ${'execute' in shown ? sql`in (${shown})` : sql`= any(${shown}::uuid[])`}`;
  return countChanged(db, erase);
}

/** Where an event may name a buyer or a record of it. */
const namedIn = [
  sql`target ->> 'id'`,
  sql`target ->> 'buyer_id'`,
  sql`target -> 'buyer' ->> 'id'`,
  sql`target -> 'payment_method' ->> 'id'`,
];

/** Looks through the next events, and returns those that concern the buyer. */
export async function listEventsShowing(
  db: Db,
  place: Place,
  person: Person,
  after: FoundRow | undefined,
): Promise<FoundPage> {
  // In pages of all events: a search for the next match could go through the whole table in one statement. Values are compared,
  // because a search of the text for each of hundreds of cards takes longer.
  const ids = [person.id, ...person.records];
  const named = sql.join(
    namedIn.map((value) => sql`lower(${value}) = any(${ids}::text[])`),
    sql` or `,
  );
  const isReferenced = hasReference(
    'account' in place ? place.account : undefined,
    person,
    sql`target -> 'buyer' ->> 'external_identifier'`,
    sql`other.id::text = lower(target -> 'buyer' ->> 'id')`,
  );
  const { rows } = await sql<FoundRow & { isFound: boolean | null }>`
    select account, created_at, id, ${named} or ${isReferenced} as "isFound"
    from (${nextEvents(place, sql`body::json -> 'target' as target`, after)}) as page
    order by account, created_at, id ${noteOf(place)}`.execute(db);
  return pageOf(rows);
}

/** With their deliveries, which go first: this waits for attempts that are being recorded. */
export async function deleteEvents({ db }: Work, account: string, ids: readonly string[]): Promise<number> {
  await deleteDeliveriesOf(db, account, ids);
  const erase = sql`delete from events where merchant_account_id = ${account} and id = any(${[...ids]}::uuid[])`;
  return countChanged(db, erase);
}
