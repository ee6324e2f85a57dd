// What changes transactions, and what that means for the cards that they used: uses are counted, and a decline for a reason
// that lies with the card applies its pending replacement.
import { sql } from 'kysely';
import { acrossAccounts } from '../../kit/database/across-accounts.ts';
import type { SqlType } from '../../kit/database/columns.ts';
import type { Tx } from '../../kit/database/database.ts';
import { copyRow, copyRows } from '../../kit/database/protocol.ts';
import type { UnitOfWork } from '../../kit/database/unit-of-work.ts';
import { withEvent } from '../../kit/events/outbox.ts';
import { findIllegalMove, type IllegalMove } from '../../kit/rules/state-machine.ts';
import { notAfter, readUuid } from '../../kit/rules/values.ts';
import {
  lockPaymentMethod,
  presentWithBuyer,
  updateReplacement,
  type PaymentMethodRow,
} from '../payment-methods/queries.ts';
import { replacementAfter, replacingDeclines, type Trigger } from '../payment-methods/rules.ts';
import { lockTransactionOfAnyAccount } from './any-account.ts';
import {
  analyzeTransactions,
  prepareTransactions,
  updateTransaction,
  type NewTransaction,
  type TransactionRow,
} from './queries.ts';
import { transactionMoves, type TransactionStatus } from './rules.ts';
import { presentTransaction } from './table.ts';

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
  let added = 0;
  // Not in the loop, whose variables would keep the rows in memory until they are stored: their text is enough.
  const encode = async ({ rows, onStored }: Batch): Promise<() => Promise<void>> => {
    const insert = await prepareTransactions(rows, unit);
    const uses = rows.map(encodeUse);
    const ids = rows.map(({ id }) => id);
    return async () => {
      let refused: number[] = [];
      await withEvent(unit, 'transaction.created', presentTransaction, async (tx) => {
        const stored = await insert(tx);
        refused = stored.refused;
        return stored.rows;
      });
      const positions = new Set(refused);
      const stored = uses.filter((_, index) => !positions.has(index));
      await copyRows(
        db,
        'bulk_uses',
        useColumns,
        stored.filter((use) => use !== undefined),
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
  for (const decline of await applyUses(db)) await recordDecline(unit, decline);
  await analyzeTransactions(db, added);
}

async function explainRefused(
  db: Tx,
  ids: readonly string[],
  refused: readonly number[],
): Promise<RefusedRow[]> {
  if (refused.length === 0) return [];
  const idAt = (index: number) => readUuid(ids[index] ?? '') ?? '';
  // Those that this database transaction has inserted.
  const { rows } = await sql<{ id: string }>`
    select id from transactions
    where id = any(${refused.map(idAt)}::uuid[]) and xmin = pg_current_xact_id()::xid
    ${acrossAccounts('import-duplicates')}`.execute(db);
  const own = new Set(rows.map(({ id }) => id));
  return refused.map((index) => ({ index, isRepeated: own.has(idAt(index)) }));
}

// An import may run for hours. Its uses of stored cards are collected in a temporary table and applied at the end, because
// otherwise the cards would stay locked all the time.
const useColumns = [
  ['id', 'uuid'],
  ['account', 'text'],
  ['at', 'timestamptz'],
  ['customer', 'boolean'],
  // The decline reason.
  ['decline', 'text'],
  ['declined_at', 'timestamptz'],
] as const satisfies [string, SqlType][];

/** Disables the timeouts of this transaction and creates the temporary table. */
async function prepareBulk(db: Tx): Promise<void> {
  const columns = sql.raw(useColumns.map((column) => column.join(' ')).join(', '));
  await sql`set local statement_timeout = 0`.execute(db);
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(db);
  await sql`create temporary table bulk_uses (${columns}) on commit drop`.execute(db);
}

/** A transaction's use of a stored card, as a row of the temporary table; undefined if it used none. */
function encodeUse(row: NewTransaction): string | undefined {
  const id = row.payment_method && readUuid(row.payment_method.id);
  if (!id) return undefined;
  const use: Record<(typeof useColumns)[number][0], unknown> = {
    id,
    account: row.merchant_account_id,
    at: notAfter(row.created_at),
    customer: row.merchant_initiated !== true,
    decline: row.status === 'authorization_declined' ? row.raw_response_code : null,
    declined_at: notAfter(row.updated_at),
  };
  return copyRow(useColumns, use);
}

interface CardDecline {
  id: string;
  account: string;
  reason: string;
}

/**
 * Counts the uses of cards, without events. Returns, each once, the cards whose pending replacement now applies: they were declined
 * for such a reason after it was found. Cards are locked in the order of accounts and IDs, so that two imports cannot deadlock.
 */
async function applyUses(db: Tx): Promise<CardDecline[]> {
  const { rows: used } = await sql<{ account: string }>`select distinct account from bulk_uses`.execute(db);
  const declines: CardDecline[] = [];
  for (const account of used.map((one) => one.account).sort()) {
    await recordUses(db, account);
    const { rows } = await sql<CardDecline>`
      select distinct on (uses.id) uses.id, uses.account, uses.decline as reason
      from bulk_uses as uses
      join payment_methods on payment_methods.id = uses.id
      where payment_methods.merchant_account_id = ${account} and uses.account = ${account}
        and payment_methods.has_replacement and uses.decline = any(${[...replacingDeclines]}::text[])
        and uses.declined_at > payment_methods.replacement_found_at
      order by uses.id, uses.declined_at desc`.execute(db);
    declines.push(...rows);
  }
  return declines;
}

/**
 * A decline for a reason that lies with the card applies its pending replacement. A transaction has only a snapshot of its
 * card and may name one of another merchant account: that card is left alone.
 */
async function recordDecline(unit: UnitOfWork, { id, account, reason }: CardDecline): Promise<void> {
  const card = await lockPaymentMethod(unit.db, account, id);
  const trigger: Trigger = { kind: 'declined', reason };
  if (!card || !replacementAfter(card.has_replacement, trigger).applies) return;
  await withEvent(
    unit,
    'payment-method.updated',
    (row: PaymentMethodRow) => presentWithBuyer(unit, row),
    (db) => updateReplacement(db, card, trigger, unit.now),
  );
}

async function recordUses(db: Tx, account: string): Promise<void> {
  await sql`
    select id from payment_methods
    where merchant_account_id = ${account} and id in (select id from bulk_uses where account = ${account})
    order by id for no key update`.execute(db);
  await sql`
    update payment_methods set
      usage_count = payment_methods.usage_count + used.times,
      last_used_at = greatest(payment_methods.last_used_at, used.last),
      cit_usage_count = payment_methods.cit_usage_count + used.customer_times,
      cit_last_used_at = greatest(payment_methods.cit_last_used_at, used.customer_last)
    from (
      select id, count(*)::integer as times, max(at) as last,
        (count(*) filter (where customer))::integer as customer_times, max(at) filter (where customer) as customer_last
      from bulk_uses where account = ${account} group by id
    ) as used
    where payment_methods.merchant_account_id = ${account} and payment_methods.id = used.id`.execute(db);
}

/** Undefined when there is no such transaction. */
export async function moveTransaction(
  unit: UnitOfWork,
  id: string,
  status: TransactionStatus,
  reason: string | undefined,
): Promise<{ kind: 'moved'; row: TransactionRow } | IllegalMove | undefined> {
  const found = await lockTransactionOfAnyAccount(unit.db, id);
  if (!found) return undefined;
  const fault = findIllegalMove(transactionMoves, found.status, status);
  if (fault) return fault;
  const change = {
    ...found,
    ...presentTransaction(found),
    status,
    // It may be imported, by a clock that is ahead. Or another change began later than this one, and was faster.
    updated_at: new Date(
      Math.max(unit.now.getTime(), found.created_at.getTime(), found.updated_at.getTime()),
    ).toISOString(),
    ...amountsAfter(found, status),
    ...(reason === undefined
      ? {}
      : { raw_response_code: reason, raw_response_description: reason.replaceAll('_', ' ') }),
  };
  const moved = await withEvent(unit, 'transaction.updated', presentTransaction, (db) =>
    updateTransaction(db, change),
  );
  const { payment_method_id: card, merchant_account_id: account } = found;
  if (status === 'authorization_declined' && reason !== undefined && card)
    await recordDecline(unit, { id: card, account, reason });
  return { kind: 'moved', row: moved };
}

function amountsAfter(row: TransactionRow, status: TransactionStatus) {
  if (status === 'authorization_succeeded' && row.authorized_amount === 0)
    return { authorized_amount: row.amount };
  return status === 'capture_succeeded' ? { captured_amount: row.authorized_amount } : {};
}
