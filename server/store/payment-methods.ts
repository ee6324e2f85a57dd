import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';
import type { Announcement } from './announcement.ts';
import type { Db, Tx } from './database.ts';
import type { PaymentMethodsTable } from './tables/payment-methods.ts';

export type PaymentMethodRow = Selectable<PaymentMethodsTable>;
export type NewPaymentMethod = Insertable<PaymentMethodsTable>;
export type { Replacement } from './tables/payment-methods.ts';

/**
 * Undefined when the external identifier is taken. The unique constraint decides: of concurrent inserts one succeeds, and the
 * others wait for its commit and then find the row.
 */
export async function insertPaymentMethod(
  db: Tx,
  method: NewPaymentMethod,
  { tell }: Announcement<PaymentMethodRow>,
): Promise<PaymentMethodRow | undefined> {
  const row = await db
    .insertInto('payment_methods')
    .values(method)
    .onConflict((conflict) => conflict.constraint('payment_methods_external_identifier').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row) await tell?.(row);
  return row;
}

export async function updatePaymentMethod(
  db: Tx,
  id: string,
  change: Updateable<PaymentMethodsTable>,
  { tell }: Announcement<PaymentMethodRow>,
): Promise<PaymentMethodRow> {
  const row = await db
    .updateTable('payment_methods')
    .set({ ...change, updated_at: sql`now()` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await tell?.(row);
  return row;
}

export const findPaymentMethodId = (db: Db, account: string, external_identifier: string) =>
  db
    .selectFrom('payment_methods')
    .select('id')
    .where('merchant_account_id', '=', account)
    .where('external_identifier', '=', external_identifier)
    .executeTakeFirst();

export const findPaymentMethod = (db: Db, id: string) =>
  db.selectFrom('payment_methods').selectAll().where('id', '=', id).executeTakeFirst();

/** Locks the row until the transaction ends, so that its state cannot change in between. */
export const lockPaymentMethod = (db: Tx, id: string) =>
  db.selectFrom('payment_methods').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();

export const listPaymentMethods = (db: Db, account: string, limit: number) =>
  db
    .selectFrom('payment_methods')
    .selectAll()
    .where('merchant_account_id', '=', account)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();

export const listPendingReplacements = (db: Db) =>
  db.selectFrom('payment_methods').select('id').where('has_replacement', '=', true).execute();
