// For operators, who know only the ID. Handlers cannot import this.
import { findAccountOf } from '../../kit/database/across-accounts.ts';
import type { Db, Tx } from '../../kit/database/database.ts';
import { readUuid } from '../../kit/rules/values.ts';
import { findTransaction, lockTransaction, type TransactionRow } from './queries.ts';

export async function findTransactionOfAnyAccount(db: Db, id: string): Promise<TransactionRow | undefined> {
  const account = await accountOf(db, id);
  return account === undefined ? undefined : findTransaction(db, account, id);
}

export async function lockTransactionOfAnyAccount(db: Tx, id: string): Promise<TransactionRow | undefined> {
  const account = await accountOf(db, id);
  return account === undefined ? undefined : lockTransaction(db, account, id);
}

async function accountOf(db: Db, text: string): Promise<string | undefined> {
  const id = readUuid(text);
  return id === undefined ? undefined : findAccountOf(db, 'transactions', id);
}
