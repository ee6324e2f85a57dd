// Imports very many transactions in one database transaction that may run for hours. Changes to stored cards are collected in
// a temporary table and applied at the end, because otherwise the cards would stay locked all the time.
import { sql } from 'kysely';
import { acrossAccounts } from '../../database/across-accounts.ts';
import type { SqlType } from '../../database/columns.ts';
import { copyRow, copyRows } from '../../database/copy.ts';
import type { Tx } from '../../database/database.ts';
import { readUuid } from '../../rules/uuid.ts';
import { notAfter } from '../../rules/values.ts';
import type { NewTransaction } from './queries.ts';

interface CardUse {
  id: string;
  account: string;
  at: Date;
  customer: boolean;
  /** The decline reason. */
  decline: string | null;
  declined_at: Date;
}

function useOf(row: NewTransaction): CardUse | undefined {
  const id = row.payment_method && readUuid(row.payment_method.id);
  return id
    ? {
        id,
        account: row.merchant_account_id,
        at: notAfter(row.created_at),
        customer: row.merchant_initiated !== true,
        decline: row.status === 'authorization_declined' ? (row.raw_response_code ?? null) : null,
        declined_at: notAfter(row.updated_at),
      }
    : undefined;
}

const useColumns = Object.entries({
  id: 'uuid',
  account: 'text',
  at: 'timestamptz',
  customer: 'boolean',
  decline: 'text',
  declined_at: 'timestamptz',
} as const satisfies Record<keyof CardUse, SqlType>);
const columns = sql.raw(useColumns.map((column) => column.join(' ')).join(', '));

// The rows are locked in the order of accounts and IDs, so that two transactions with the same cards cannot deadlock. Counters
// have no events.
async function addUses(db: Tx, account: string): Promise<void> {
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

/** Disables the timeouts of this transaction and creates the temporary table. */
export async function prepareBulk(db: Tx): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(db);
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(db);
  await sql`create temporary table bulk_uses (${columns}) on commit drop`.execute(db);
}

/** A transaction's use for `collectBulkUses`, which is much smaller than the transaction; undefined if it used no card. */
export function bulkUseOf(row: NewTransaction): string | undefined {
  const use = useOf(row);
  return use && copyRow(useColumns, { ...use });
}

export const collectBulkUses = (db: Tx, uses: readonly (string | undefined)[]): Promise<void> =>
  copyRows(
    db,
    'bulk_uses',
    useColumns,
    uses.filter((use) => use !== undefined),
  );

export async function applyBulkUses(db: Tx): Promise<void> {
  for (const account of await listBulkAccounts(db)) await addUses(db, account);
}

async function listBulkAccounts(db: Tx): Promise<string[]> {
  const { rows } = await sql<{ account: string }>`select distinct account from bulk_uses`.execute(db);
  return rows.map(({ account }) => account).sort();
}

/** Cards that were declined for one of these reasons after their pending replacement was found; each once, ordered by account and ID. */
export async function listBulkDeclines(
  db: Tx,
  reasons: readonly string[],
): Promise<{ id: string; account: string; reason: string }[]> {
  const declines = [];
  for (const account of await listBulkAccounts(db)) {
    const { rows } = await sql<{ id: string; account: string; reason: string }>`
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

/** Which of these IDs the current transaction inserted. */
export async function listOwnTransactions(
  db: Tx,
  ids: readonly (string | undefined)[],
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from transactions
    where id = any(${[...ids]}::uuid[]) and xmin = pg_current_xact_id()::xid
    ${acrossAccounts('import-duplicates')}`.execute(db);
  return new Set(rows.map(({ id }) => id));
}
