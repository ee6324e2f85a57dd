import { sql, type Selectable, type Updateable } from 'kysely';
import { acrossAccounts } from '../../kit/database/across-accounts.ts';
import { notBack } from '../../kit/database/columns.ts';
import type { Db, Tx } from '../../kit/database/database.ts';
import { runText } from '../../kit/database/execution.ts';
import type { UnitOfWork } from '../../kit/database/unit-of-work.ts';
import type { EventTx } from '../../kit/events/outbox.ts';
import type { DatabaseTime } from '../../kit/rules/database-time.ts';
import { lockBuyer } from '../buyers/queries.ts';
import type { BuyerRow } from '../buyers/table.ts';
import { replacementAfter, type Trigger } from './rules.ts';
import { presentPaymentMethod, type PaymentMethodsTable } from './table.ts';

export type PaymentMethodRow = Selectable<PaymentMethodsTable>;

/** What PostgreSQL fills in, because only later changes have it. */
const untouched = {
  country: null,
  currency: null,
  has_replacement: false,
  replacement: null,
  last_replaced_at: null,
  last_used_at: null,
  usage_count: 0,
  cit_last_used_at: null,
  cit_usage_count: 0,
  replacement_found_at: null,
  verification_error: null,
};

/** Without the columns that every new card has alike. */
export type NewPaymentMethod = Omit<PaymentMethodRow, keyof typeof untouched | 'created_at' | 'updated_at'> &
  Partial<Pick<PaymentMethodRow, 'verification_error'>>;

/**
 * Undefined when the external identifier is taken. The unique constraint decides: of concurrent inserts one succeeds, and the
 * others wait for its commit and then find the row. The row is not read back: PostgreSQL adds nothing to it.
 */
export async function insertPaymentMethod(
  db: EventTx,
  method: NewPaymentMethod,
  now: DatabaseTime,
): Promise<PaymentMethodRow | undefined> {
  const row: PaymentMethodRow = { ...untouched, created_at: now, updated_at: now, ...method };
  const values = stored.map((column) => row[column]);
  const { numAffectedRows } = await runText(db, cardText, values);
  return numAffectedRows === 1n ? row : undefined;
}

/** The columns that `untouched` leaves, and one more. */
const stored = [
  ...(['id', 'merchant_account_id', 'buyer_id', 'external_identifier', 'status', 'scheme', 'bin'] as const),
  ...(['card_type', 'card_issuer_name', 'expiration_date', 'label', 'fingerprint', 'number_sealed'] as const),
  ...(['redirect_url', 'created_at', 'updated_at', 'verification_error'] as const),
];
export const cardText = `
  insert into payment_methods (${stored.join(', ')}) values (${stored.map((_, index) => `$${index + 1}`).join(', ')})
  on conflict on constraint payment_methods_external_identifier do nothing`;

export function updatePaymentMethod(
  db: EventTx,
  { merchant_account_id: account, id }: Pick<PaymentMethodRow, 'merchant_account_id' | 'id'>,
  change: Omit<Updateable<PaymentMethodsTable>, 'merchant_account_id' | 'id'>,
  now: DatabaseTime,
): Promise<PaymentMethodRow> {
  return db
    .updateTable('payment_methods')
    .set({ ...change, updated_at: notBack(now) })
    .where('merchant_account_id', '=', account)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export const noReplacement = { has_replacement: false, replacement: null, replacement_found_at: null };

/** Applies the replacement that was found for a card, keeps it for later, or drops it. */
export function updateReplacement(
  db: EventTx,
  card: PaymentMethodRow,
  trigger: Trigger,
  now: DatabaseTime,
): Promise<PaymentMethodRow> {
  const { hasReplacement, applies } = replacementAfter(card.has_replacement, trigger);
  const pending = {
    has_replacement: true,
    replacement: JSON.stringify(card.replacement),
    replacement_found_at: card.replacement_found_at,
  };
  const change = {
    ...(applies ? { ...card.replacement, last_replaced_at: now } : {}),
    ...(hasReplacement ? pending : noReplacement),
  };
  return updatePaymentMethod(db, card, change, now);
}

/** For events. `known`: its buyer, if the caller has locked that already. */
export async function presentWithBuyer(
  { db, publicUrl }: Pick<UnitOfWork, 'db' | 'publicUrl'>,
  card: PaymentMethodRow,
  known?: BuyerRow,
) {
  const { merchant_account_id: account, buyer_id: id } = card;
  const buyer = id === null ? undefined : (known ?? (await lockBuyer(db, account, { id })));
  return presentPaymentMethod(card, buyer, publicUrl);
}

export const findPaymentMethodId = (db: Db, account: string, external_identifier: string) =>
  db
    .selectFrom('payment_methods')
    .select('id')
    .where('merchant_account_id', '=', account)
    .where('external_identifier', '=', external_identifier)
    .executeTakeFirst();

const selectOne = (db: Db, account: string, id: string) =>
  db
    .selectFrom('payment_methods')
    .selectAll()
    .where('merchant_account_id', '=', account)
    .where('id', '=', id);

export const findPaymentMethod = (db: Db, account: string, id: string) =>
  selectOne(db, account, id).executeTakeFirst();

/** Locks the row until the transaction ends, so that its state cannot change in between. */
export const lockPaymentMethod = (db: Tx, account: string, id: string) =>
  selectOne(db, account, id).forUpdate().executeTakeFirst();

export interface PaymentMethodFilter {
  /** The ID of a buyer, or the merchant's reference. */
  buyer?: string | undefined;
  status?: readonly PaymentMethodRow['status'][] | undefined;
  /** An ID, or part of the merchant's reference or of the label, which has the last four digits. */
  search?: string | undefined;
  limit: number;
}

export const listPaymentMethods = (
  db: Db,
  account: string,
  { buyer, status, search, limit }: PaymentMethodFilter,
) => {
  let query = db.selectFrom('payment_methods').selectAll().where('merchant_account_id', '=', account);
  if (status !== undefined) query = query.where('status', 'in', status);
  if (buyer !== undefined)
    query = query.where('buyer_id', 'in', (inner) =>
      inner
        .selectFrom('buyers')
        .select('id')
        .where('merchant_account_id', '=', account)
        .where((one) =>
          one.or([sql<boolean>`id::text = lower(${buyer})`, one('external_identifier', '=', buyer)]),
        ),
    );
  if (search !== undefined) {
    const part = search.toLowerCase();
    query = query.where(
      sql<boolean>`(id::text = ${part} or position(${part} in lower(concat_ws(E'\\n', external_identifier, label))) > 0)`,
    );
  }
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
};

export async function listProcessingIds(db: Db, account: string): Promise<string[]> {
  const rows = await db
    .selectFrom('payment_methods')
    .select('id')
    .where('merchant_account_id', '=', account)
    .where('status', '=', 'processing')
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** How many cards are in processing, of the oldest `most`, and for how many seconds the first of them. By the clock of the database. */
export async function countProcessing(db: Db, most: number): Promise<{ cards: number; seconds: number }> {
  // The index payment_methods_processing has this condition.
  const { rows } = await sql<{ cards: number; seconds: number | null }>`
    select count(*) as cards, extract(epoch from clock_timestamp() - min(created_at))::float8 as seconds
    from (select created_at from payment_methods where status = 'processing' order by created_at limit ${most}) as oldest
    ${acrossAccounts('cards-in-processing')}`.execute(db);
  const { cards = 0, seconds = null } = rows[0] ?? {};
  return { cards, seconds: Math.max(0, seconds ?? 0) };
}

/** As the index payment_methods_waiting has it: YYMM of MM/YY. */
export const expiry = sql<string>`right(expiration_date, 2) || left(expiration_date, 2)`;

/** YYMM, by the clock of the database. */
export const currentMonth = sql<string>`to_char(now() at time zone 'UTC', 'YYMM')`;

export const isExpired = sql<boolean>`${expiry} < ${currentMonth}`;

const isDue = sql<boolean>`has_replacement and ${isExpired}`;

/** `except`: cards that failed. Not in pages along a key: the index has no ID, so each page would sort all cards of a month. */
export const listDueReplacements = (
  db: Db,
  { except, limit }: { except: readonly string[]; limit: number },
) =>
  db
    .selectFrom('payment_methods')
    .select(['merchant_account_id', 'id'])
    .where(isDue)
    .where(sql<boolean>`id <> all(${except}::uuid[])`)
    .orderBy(expiry)
    .limit(limit)
    .modifyEnd(acrossAccounts('due-replacements'))
    .execute();

/** Which of these cards are still due. They are locked until the transaction ends. */
export const lockDueReplacements = (db: Tx, account: string, ids: readonly string[]) =>
  db
    .selectFrom('payment_methods')
    .selectAll()
    .where('merchant_account_id', '=', account)
    .where('id', 'in', ids)
    .where(isDue)
    .orderBy('id')
    .forUpdate()
    .execute();
