// For operators and the approval page, who know only the ID. Handlers cannot import this.
import { findAccountOf } from '../../kit/database/across-accounts.ts';
import type { Db, Tx } from '../../kit/database/database.ts';
import { findPaymentMethod, lockPaymentMethod, type PaymentMethodRow } from './queries.ts';

export async function findPaymentMethodOfAnyAccount(
  db: Db,
  id: string,
): Promise<PaymentMethodRow | undefined> {
  const account = await findAccountOf(db, 'payment_methods', id);
  return account === undefined ? undefined : findPaymentMethod(db, account, id);
}

export async function lockPaymentMethodOfAnyAccount(
  db: Tx,
  id: string,
): Promise<PaymentMethodRow | undefined> {
  const account = await findAccountOf(db, 'payment_methods', id);
  return account === undefined ? undefined : lockPaymentMethod(db, account, id);
}
