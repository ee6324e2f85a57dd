// What changes transactions, and what that means for the cards that they used: uses are counted, and a decline for a reason
// that lies with the card applies its pending replacement.
import type { UnitOfWork } from '../../database/unit-of-work.ts';
import { announce } from '../../events/outbox.ts';
import { checkMove } from '../../rules/state-machine.ts';
import { readUuid } from '../../rules/uuid.ts';
import { recordDecline } from '../payment-methods/changes.ts';
import { replacingDeclines } from '../payment-methods/rules.ts';
import { applyUses, encodeUse, listOwnTransactions, prepareBulk, storeUses } from './bulk.ts';
import { presentTransaction } from './present.ts';
import {
  analyzeTransactions,
  lockTransactionOfAnyAccount,
  prepareTransactions,
  updateTransaction,
  type NewTransaction,
  type TransactionRow,
} from './queries.ts';
import { transactionMoves, type TransactionStatus } from './rules.ts';

export interface Batch {
  rows: readonly NewTransaction[];
  /** Called with the rows whose ID exists already, when the others are stored. */
  onStored?: (refused: readonly RefusedRow[]) => void;
}

export interface RefusedRow {
  index: number;
  /** Whether an earlier row of this import has the same ID. */
  isRepeated: boolean;
}

/**
 * Creates any number of transactions in one unit of work, which may last for hours. While the database stores a batch, the next
 * one is made and encoded. What the transactions mean for stored cards is applied at the end.
 */
export async function importTransactions(
  unit: UnitOfWork,
  batches: AsyncIterable<Batch> | Iterable<Batch>,
): Promise<void> {
  const { db } = unit;
  const created = announce(unit, 'transaction.created', presentTransaction);
  let added = 0;
  // Not in the loop, whose variables would keep the rows in memory until they are stored: their text is enough.
  const encode = async ({ rows, onStored }: Batch): Promise<() => Promise<void>> => {
    const insert = await prepareTransactions(rows, created);
    const uses = rows.map(encodeUse);
    const ids = rows.map(({ id }) => id);
    return async () => {
      const refused = await insert(db);
      const positions = new Set(refused);
      await storeUses(
        db,
        uses.filter((_, index) => !positions.has(index)),
      );
      added += ids.length - refused.length;
      onStored?.(await explainRefused(db, ids, refused));
    };
  };
  await prepareBulk(db);
  let storing = Promise.resolve();
  try {
    for await (const batch of batches) {
      const store = await encode(batch);
      await storing;
      storing = store();
      // It is awaited later, and may fail before.
      storing.catch(() => undefined);
    }
  } finally {
    // After a rollback, the rest of a batch would be stored outside of the transaction.
    await storing.catch(() => undefined);
  }
  await storing;
  for (const decline of await applyUses(db, replacingDeclines)) await recordDecline(unit, decline);
  await analyzeTransactions(db, added);
}

async function explainRefused(
  db: UnitOfWork['db'],
  ids: readonly string[],
  refused: readonly number[],
): Promise<RefusedRow[]> {
  if (refused.length === 0) return [];
  const idAt = (index: number) => readUuid(ids[index] ?? '') ?? '';
  const own = await listOwnTransactions(db, refused.map(idAt));
  return refused.map((index) => ({ index, isRepeated: own.has(idAt(index)) }));
}

/** Undefined when there is no such transaction; throws IllegalMove. */
export async function moveTransaction(
  unit: UnitOfWork,
  id: string,
  status: TransactionStatus,
  reason: string | undefined,
): Promise<TransactionRow | undefined> {
  const found = await lockTransactionOfAnyAccount(unit.db, id);
  if (!found) return undefined;
  checkMove(transactionMoves, found.status, status);
  const moved = await updateTransaction(
    unit.db,
    {
      ...found,
      ...presentTransaction(found),
      status,
      // Our clock may be behind the one that created it.
      updated_at: new Date(Math.max(unit.now.getTime(), found.created_at.getTime())).toISOString(),
      ...amountsAfter(found, status),
      ...(reason === undefined
        ? {}
        : { raw_response_code: reason, raw_response_description: reason.replaceAll('_', ' ') }),
    },
    announce(unit, 'transaction.updated', presentTransaction),
  );
  const { payment_method_id: card, merchant_account_id: account } = found;
  if (status === 'authorization_declined' && reason !== undefined && card)
    await recordDecline(unit, { id: card, account, reason });
  return moved;
}

function amountsAfter(row: TransactionRow, status: TransactionStatus) {
  if (status === 'authorization_succeeded' && row.authorized_amount === 0)
    return { authorized_amount: row.amount };
  return status === 'capture_succeeded' ? { captured_amount: row.authorized_amount } : {};
}
