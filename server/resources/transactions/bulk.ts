// Imports very many transactions in one database transaction that may run for hours. Their uses of stored cards are collected in
// a temporary table and applied at the end, because otherwise the cards would stay locked all the time.
import { sql } from 'kysely';
import { acrossAccounts } from '../../database/across-accounts.ts';
import type { SqlType } from '../../database/columns.ts';
import { copyRow, copyRows } from '../../database/copy.ts';
import type { Tx } from '../../database/database.ts';
import { readUuid } from '../../rules/uuid.ts';
import { notAfter } from '../../rules/values.ts';
import type { NewTransaction } from './queries.ts';

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
export async function prepareBulk(db: Tx): Promise<void> {
  const columns = sql.raw(useColumns.map((column) => column.join(' ')).join(', '));
  await sql`set local statement_timeout = 0`.execute(db);
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(db);
  await sql`create temporary table bulk_uses (${columns}) on commit drop`.execute(db);
}

/** A transaction's use of a stored card, for `storeUses`; undefined if it used none. */
export function encodeUse(row: NewTransaction): string | undefined {
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

export async function storeUses(db: Tx, uses: readonly (string | undefined)[]): Promise<void> {
  const used = uses.filter((use) => use !== undefined);
  await copyRows(db, 'bulk_uses', useColumns, used);
}

interface CardDecline {
  id: string;
  account: string;
  reason: string;
}

/**
 * Counts the uses of cards, which has no events. Returns the cards that were declined for one of these reasons after their pending
 * replacement was found, each once. Cards are locked in the order of accounts and IDs, so that two imports with the same cards
 * cannot deadlock.
 */
export async function applyUses(db: Tx, reasons: readonly string[]): Promise<CardDecline[]> {
  const { rows: used } = await sql<{ account: string }>`select distinct account from bulk_uses`.execute(db);
  const declines: CardDecline[] = [];
  for (const account of used.map((one) => one.account).sort()) {
    await countUses(db, account);
    const { rows } = await sql<CardDecline>`
      select distinct on (uses.id) uses.id, uses.account, uses.decline as reason
      from bulk_uses as uses
      join payment_methods on payment_methods.id = uses.id
      where payment_methods.merchant_account_id = ${account} and uses.account = ${account}
        and payment_methods.has_replacement and uses.decline = any(${[...reasons]}::text[])
        and uses.declined_at > payment_methods.replacement_found_at
      order by uses.id, uses.declined_at desc`.execute(db);
    declines.push(...rows);
  }
  return declines;
}

async function countUses(db: Tx, account: string): Promise<void> {
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

/** Which of these IDs the current transaction inserted. */
export async function listOwnTransactions(db: Tx, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from transactions
    where id = any(${[...ids]}::uuid[]) and xmin = pg_current_xact_id()::xid
    ${acrossAccounts('import-duplicates')}`.execute(db);
  return new Set(rows.map(({ id }) => id));
}
