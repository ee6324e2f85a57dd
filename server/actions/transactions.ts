// What changes transactions, and what that means for the cards that they used: uses are counted, and a decline for a reason
// that lies with the card applies its pending replacement.
import { replacingDeclines } from '../domain/replacement.ts';
import { checkMove, transactionMoves, type TransactionStatus } from '../domain/state-machine.ts';
import { readUuid } from '../domain/uuid.ts';
import { presentTransaction } from '../present/transaction.ts';
import {
  applyBulkUses,
  collectBulkUses,
  countCardUses,
  listBulkDeclines,
  listOwnTransactions,
  prepareBulk,
} from '../store/bulk-transactions.ts';
import {
  analyzeTransactions,
  insertTransactions,
  lockTransactionById,
  updateTransaction,
  type NewTransaction,
  type TransactionRow,
} from '../store/transactions.ts';
import { announce } from './announce.ts';
import { noteDecline } from './payment-methods.ts';
import type { UnitOfWork } from './unit-of-work.ts';

const created = (unit: UnitOfWork) => announce(unit, 'transaction.created', presentTransaction);

/** Returns the positions of those whose ID exists already; they are left out and not counted. */
export async function createTransactions(
  unit: UnitOfWork,
  rows: readonly NewTransaction[],
): Promise<number[]> {
  const refused = await insertTransactions(unit.db, rows, created(unit));
  await countCardUses(unit.db, without(rows, refused));
  return refused;
}

export interface Import {
  /** Returns the rows whose ID exists already. */
  create: (rows: readonly NewTransaction[]) => Promise<RefusedRow[]>;
  /** Applies what the imported transactions mean for stored cards. */
  finish: () => Promise<void>;
}

export interface RefusedRow {
  index: number;
  /** Whether an earlier row of this import has the same ID. */
  isRepeated: boolean;
}

/** For very many transactions, in one unit of work that may last for hours. */
export async function beginImport(unit: UnitOfWork): Promise<Import> {
  const { db } = unit;
  await prepareBulk(db);
  return {
    async create(rows) {
      const refused = await insertTransactions(db, rows, created(unit));
      await collectBulkUses(db, without(rows, refused));
      if (refused.length === 0) return [];
      const ids = refused.map((index) => readUuid(rows[index]?.id ?? ''));
      const own = await listOwnTransactions(db, ids);
      return refused.map((index, place) => ({ index, isRepeated: own.has(ids[place] ?? '') }));
    },
    async finish() {
      await applyBulkUses(db);
      for (const decline of await listBulkDeclines(db, replacingDeclines)) await noteDecline(unit, decline);
      await analyzeTransactions(db);
    },
  };
}

/** Undefined when there is no such transaction; throws IllegalMove. */
export async function moveTransaction(
  unit: UnitOfWork,
  id: string,
  status: TransactionStatus,
  reason: string | undefined,
): Promise<TransactionRow | undefined> {
  const found = await lockTransactionById(unit.db, id);
  if (!found) return undefined;
  checkMove(transactionMoves, found.status, status);
  const moved = await updateTransaction(
    unit.db,
    {
      ...found,
      ...presentTransaction(found),
      status,
      updated_at: unit.now.toISOString(),
      ...amountsAfter(found, status),
      ...(reason === undefined
        ? {}
        : { raw_response_code: reason, raw_response_description: reason.replaceAll('_', ' ') }),
    },
    announce(unit, 'transaction.updated', presentTransaction),
  );
  const { payment_method_id: card, merchant_account_id: account } = found;
  if (status === 'authorization_declined' && reason !== undefined && card)
    await noteDecline(unit, { id: card, account, reason });
  return moved;
}

function amountsAfter(row: TransactionRow, status: TransactionStatus) {
  if (status === 'authorization_succeeded' && row.authorized_amount === 0)
    return { authorized_amount: row.amount };
  return status === 'capture_succeeded' ? { captured_amount: row.authorized_amount } : {};
}

function without(rows: readonly NewTransaction[], refused: readonly number[]): NewTransaction[] {
  const left = new Set(refused);
  return rows.filter((_, index) => !left.has(index));
}
