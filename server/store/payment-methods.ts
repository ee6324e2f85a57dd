import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';
import type { Db } from './database.ts';
import type { PaymentMethodsTable } from './schema.ts';

export type PaymentMethodRow = Selectable<PaymentMethodsTable>;
export type NewPaymentMethod = Insertable<PaymentMethodsTable>;

/**
 * Undefined when the external identifier is taken. The database holds the uniqueness: of any number that come at once one
 * is stored, and the others wait for it and then find it.
 */
export const createPaymentMethod = (db: Db, method: NewPaymentMethod) =>
  db
    .insertInto('payment_methods')
    .values(method)
    .onConflict((conflict) => conflict.constraint('payment_methods_external_identifier').doNothing())
    .returningAll()
    .executeTakeFirst();

export const findByExternalIdentifier = (db: Db, account: string, external_identifier: string) =>
  db
    .selectFrom('payment_methods')
    .select('id')
    .where('merchant_account_id', '=', account)
    .where('external_identifier', '=', external_identifier)
    .executeTakeFirst();

export const findPaymentMethod = (db: Db, id: string) =>
  db.selectFrom('payment_methods').selectAll().where('id', '=', id).executeTakeFirst();

/** Held until the transaction ends, so that a move is decided on what is there. */
export const lockPaymentMethod = (db: Db, id: string) =>
  db.selectFrom('payment_methods').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();

export const savePaymentMethod = (db: Db, id: string, change: Updateable<PaymentMethodsTable>) =>
  db
    .updateTable('payment_methods')
    .set({ ...change, updated_at: sql`now()` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();

export const listPaymentMethods = (db: Db, account: string, limit: number) =>
  db
    .selectFrom('payment_methods')
    .selectAll()
    .where('merchant_account_id', '=', account)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();

export const listWaitingReplacements = (db: Db) =>
  db.selectFrom('payment_methods').select('id').where('has_replacement', '=', true).execute();
