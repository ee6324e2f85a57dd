// Citus is PostgreSQL whose merchant accounts are spread over several servers: see docs/scaling.md. Every statement on a table that
// belongs to merchant accounts names the account, so that Citus sends it to one server. These are the exceptions. Each carries its name as
// a comment, by which test/support/statements.ts knows it.
import { PostgresAdapter, sql, type RawBuilder } from 'kysely';
import type { Db } from './unit-of-work.ts';

export class CitusAdapter extends PostgresAdapter {}

/** Of a pool and of its transactions. */
export const isCitus = (db: Db): boolean => db.getExecutor().adapter instanceof CitusAdapter;

/** Why they cannot name the account. They only read, and lock nothing: Citus cannot lock rows of several servers. */
export const exceptions = {
  'account-of-id': 'Operators and the approval page know only the ID. What follows names the account.',
  'newest-everywhere': 'The list of all accounts without filters reads one index, not one per account.',
  'flat-list': 'Citus merges the pages of its servers; it cannot limit each account.',
  'due-replacements':
    'The daily job looks for expired cards of all accounts. Each is changed by its account.',
  'cards-in-processing': 'A metric counts the cards of all accounts that are not verified yet.',
  'sealed-values': 'An operator, and a start, asks which keys seal values of the whole installation.',
  'import-duplicates': 'IDs are unique over all accounts, so an import may repeat one of another account.',
  'due-deliveries': 'A worker looks for what is due of all accounts.',
  'deliveries-of-subscription': 'A subscription may be for all accounts.',
  'all-deliveries': 'An operator lists deliveries of all accounts.',
  'old-rows': 'The daily job asks which accounts have something to delete. It is deleted by account.',
} as const;

/** They change rows. A row meets only rows of its own account and global tables, so each server can do its part by itself. */
export const changing = {
  leases: 'A worker leases deliveries of several accounts at once.',
} as const;

export type Exception = keyof typeof exceptions | keyof typeof changing;

/** A comment for a statement that names no account. */
export const acrossAccounts = (name: Exception): RawBuilder<unknown> =>
  sql.raw(`/* across accounts: ${name} */`);

/** The records that exist, by account. */
export async function listAccountsOf(
  db: Db,
  table: 'payment_methods' | 'gift_cards',
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ account: string; ids: string[] }>`
    select merchant_account_id as account, array_agg(id::text) as ids from ${sql.table(table)}
    where id = any(${ids}::uuid[]) group by 1 ${acrossAccounts('account-of-id')}`.execute(db);
  return new Map(rows.map(({ account, ids: own }) => [account, own]));
}

/** Undefined when no account has this record. */
export async function findAccountOf(
  db: Db,
  table: 'buyers' | 'payment_methods' | 'transactions',
  id: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ account: string }>`
    select merchant_account_id as account from ${sql.table(table)} where id = ${id}::uuid
    ${acrossAccounts('account-of-id')}`.execute(db);
  return rows[0]?.account;
}
