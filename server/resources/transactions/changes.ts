// What changes transactions, and what that means for the cards that they used: uses are counted, and a decline for a reason
// that lies with the card applies its pending replacement.
import type { UnitOfWork } from '../../database/unit-of-work.ts';
import { announce } from '../../events/outbox.ts';
import { codeOf } from '../../faults.ts';
import { checkMove } from '../../rules/state-machine.ts';
import { readUuid } from '../../rules/uuid.ts';
import { recordDecline } from '../payment-methods/changes.ts';
import { replacingDeclines } from '../payment-methods/rules.ts';
import {
  applyBulkUses,
  bulkUseOf,
  collectBulkUses,
  listBulkDeclines,
  listOwnTransactions,
  prepareBulk,
} from './bulk.ts';
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

interface Prepared {
  insert: Awaited<ReturnType<typeof prepareTransactions>>;
  uses: readonly ReturnType<typeof bulkUseOf>[];
  ids: readonly string[];
}

export interface Import {
  /**
   * Returns the rows whose ID exists already. May be called again before it is done: the next rows are encoded while the
   * database stores these.
   */
  create: (rows: readonly NewTransaction[]) => Promise<RefusedRow[]>;
  /** Applies what the imported transactions mean for stored cards. */
  finish: () => Promise<void>;
}

export interface RefusedRow {
  index: number;
  /** Whether an earlier row of this import has the same ID. */
  isRepeated: boolean;
}

const uniqueViolation = '23505';
interface DetailedError {
  detail?: string;
}

/** Another process stored a transaction of this import after its ID was looked up. */
export class StoredMeanwhile extends Error {
  constructor({ detail = '' }: DetailedError) {
    super(`Another process stored a transaction of this import at the same time. ${detail}`.trim());
  }
}

/** Creates any number of transactions, in one unit of work that may last for hours. */
export async function beginImport(unit: UnitOfWork): Promise<Import> {
  const { db } = unit;
  const created = announce(unit, 'transaction.created', presentTransaction);
  await prepareBulk(db);
  // Once encoded, nothing refers to the rows: what waits in memory is only their text.
  const prepare = async (rows: readonly NewTransaction[]): Promise<Prepared> => ({
    insert: await prepareTransactions(rows, created),
    uses: rows.map(bulkUseOf),
    ids: rows.map(({ id }) => id),
  });
  const store = async ({ insert, uses, ids }: Prepared): Promise<RefusedRow[]> => {
    const refused = await insert(db);
    await collectBulkUses(db, without(uses, refused));
    added += ids.length - refused.length;
    if (refused.length === 0) return [];
    const refusedIds = refused.map((index) => readUuid(ids[index] ?? ''));
    const own = await listOwnTransactions(db, refusedIds);
    return refused.map((index, place) => ({ index, isRepeated: own.has(refusedIds[place] ?? '') }));
  };
  const explain = (error: unknown): never => {
    throw codeOf(error) === uniqueViolation ? new StoredMeanwhile(error as DetailedError) : error;
  };
  let added = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    create(rows) {
      const prepared = prepare(rows);
      // Its fault is told in its turn: who rolls back because of it must not have the rows before it under way.
      prepared.catch(() => undefined);
      const stored = last.then(async () => store(await prepared)).catch(explain);
      last = stored;
      return stored;
    },
    async finish() {
      await applyBulkUses(db);
      for (const decline of await listBulkDeclines(db, replacingDeclines)) await recordDecline(unit, decline);
      await analyzeTransactions(db, added);
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

function without<Row>(rows: readonly Row[], refused: readonly number[]): Row[] {
  const left = new Set(refused);
  return rows.filter((_, index) => !left.has(index));
}
