// What creating and moving transactions does besides: uses of stored cards are counted, and a decline for a card's sake
// makes a waiting replacement apply. Each in the same database transaction as the change itself.
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { checkMove, transactionMoves, type TransactionStatus } from '../domain/state-machine.ts';
import type { Db } from './database.ts';
import { noteDecline, type Changed } from './payment-method-moves.ts';
import { stamp } from './paging.ts';
import type { Tables } from './schema.ts';
import { notAfter, readUuid } from './transaction-filters.ts';
import {
  analyzeTransactions,
  insertTransactions,
  present as presentTransaction,
  type Transaction,
  lockTransaction,
  saveTransaction,
  type NewTransaction,
  type TransactionPatch,
  type TransactionRow,
} from './transactions.ts';

/** Returns the places of those whose ID exists already; they are left out, and not counted. */
export async function createTransactions(db: Db, rows: readonly NewTransaction[]): Promise<number[]> {
  const refused = await insertTransactions(db, rows);
  const left = new Set(refused);
  await countUses(
    db,
    rows.filter((_, index) => !left.has(index)),
  );
  return refused;
}

const usesOf = (rows: readonly NewTransaction[]) =>
  rows.flatMap(({ payment_method: method, merchant_account_id: account, created_at, merchant_initiated }) => {
    const id = method && readUuid(method.id);
    return id
      ? [{ id, account, at: stamp(notAfter(created_at)), customer: merchant_initiated !== true }]
      : [];
  });

const usesIn = (uses: ReturnType<typeof usesOf>) =>
  sql`json_to_recordset(${JSON.stringify(uses)}::json) as uses (id uuid, account text, at timestamptz, customer boolean)`;

async function countUses(db: Db, rows: readonly NewTransaction[]): Promise<void> {
  const uses = usesOf(rows);
  if (uses.length > 0) await addUses(db, usesIn(uses));
}

// Locked in one order first, so that two that count the same cards cannot wait for each other.
async function addUses(db: Db, uses: RawBuilder<unknown>): Promise<void> {
  await sql`
    select id from payment_methods where id in (select uses.id from ${uses}) order by id for no key update`.execute(
    db,
  );
  await sql`
    update payment_methods set
      usage_count = payment_methods.usage_count + used.times,
      last_used_at = greatest(payment_methods.last_used_at, used.last),
      cit_usage_count = payment_methods.cit_usage_count + used.customer_times,
      cit_last_used_at = greatest(payment_methods.cit_last_used_at, used.customer_last)
    from (
      select id, account, count(*)::integer as times, max(at) as last,
        (count(*) filter (where customer))::integer as customer_times, max(at) filter (where customer) as customer_last
      from ${uses} group by id, account
    ) as used
    where payment_methods.id = used.id and payment_methods.merchant_account_id = used.account`.execute(db);
}

export interface Bulk {
  create: (rows: readonly NewTransaction[]) => Promise<Refusal[]>;
  /** Without it nothing is counted. */
  finish: () => Promise<void>;
}

interface Refusal {
  index: number;
  /** Whether it was this very transaction that took the ID. */
  isOwn: boolean;
}

/**
 * For very many, in one database transaction that may last for hours. Uses are noted aside and counted at the end: a card
 * that is locked for so long could not be approved, replaced or counted by anybody else.
 */
export async function beginBulk(db: Db): Promise<Bulk> {
  await sql`set local statement_timeout = 0`.execute(db);
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(db);
  await sql`create temporary table bulk_uses (id uuid, account text, at timestamptz, customer boolean) on commit drop`.execute(
    db,
  );
  return {
    async create(rows) {
      const refused = await insertTransactions(db, rows);
      const left = new Set(refused);
      const uses = usesOf(rows.filter((_, index) => !left.has(index)));
      if (uses.length > 0)
        await sql`insert into bulk_uses select id, account, at, customer from ${usesIn(uses)}`.execute(db);
      if (refused.length === 0) return [];
      const idAt = (index: number) => readUuid(rows[index]?.id ?? '');
      const { rows: known } = await sql<{ id: string }>`
        select id from transactions
        where id = any(${refused.map(idAt)}::uuid[]) and xmin = pg_current_xact_id()::xid`.execute(db);
      const own = new Set(known.map(({ id }) => id));
      return refused.map((index) => ({ index, isOwn: own.has(idAt(index) ?? '') }));
    },
    async finish() {
      await addUses(db, sql`bulk_uses as uses`);
      await analyzeTransactions(db);
    },
  };
}

/** Told of every change, in its transaction. */
export interface Told {
  transaction: (db: Db, transaction: Transaction) => Promise<void>;
  paymentMethod: Changed;
}

const silent: Told = { transaction: () => Promise.resolve(), paymentMethod: () => Promise.resolve() };

/** Undefined when there is no such transaction; throws IllegalMove. */
export const moveTransaction = (
  db: Kysely<Tables>,
  id: string,
  status: TransactionStatus,
  reason: string | undefined,
  now: Date,
  told: Told = silent,
) =>
  db.transaction().execute(async (transaction) => {
    const found = await lockTransaction(transaction, id);
    if (!found) return undefined;
    checkMove(transactionMoves, found.status, status);
    const patch = {
      status,
      updated_at: now.toISOString(),
      ...amountsAfter(found, status),
      ...answer(reason),
    };
    const saved = await saveTransaction(transaction, id, patch);
    const card = found.payment_method_id;
    if (status === 'authorization_declined' && reason !== undefined && card)
      await noteDecline(
        transaction,
        { id: card, account: found.merchant_account_id },
        reason,
        now,
        told.paymentMethod,
      );
    if (saved) await told.transaction(transaction, presentTransaction(saved));
    return saved;
  });

const answer = (reason: string | undefined): Partial<TransactionPatch> =>
  reason === undefined
    ? {}
    : { raw_response_code: reason, raw_response_description: reason.replaceAll('_', ' ') };

function amountsAfter(row: TransactionRow, status: TransactionStatus): Partial<TransactionPatch> {
  if (status === 'authorization_succeeded' && row.authorized_amount === 0)
    return { authorized_amount: row.amount };
  if (status === 'capture_succeeded') return { captured_amount: row.authorized_amount };
  return {};
}
