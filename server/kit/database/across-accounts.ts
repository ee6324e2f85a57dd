// Citus is PostgreSQL whose merchant accounts are spread over several servers: see docs/scaling.md. Every statement on a table that
// belongs to merchant accounts names the account, so that Citus sends it to one server. These are the exceptions. Each carries its name as
// a comment, by which test/support/account-statements.ts knows why it may.
import { PostgresAdapter, sql, type RawBuilder, type SqlBool } from 'kysely';
import { allAccounts, noAccount, onceFor } from '../rules/accounts.ts';
import { readUuid } from '../rules/values.ts';
import type { Tables } from './tables.ts';
import type { Db } from './unit-of-work.ts';

export class CitusAdapter extends PostgresAdapter {}

/** Of a pool and of its transactions. */
export const isCitus = (db: Db): boolean => db.getExecutor().adapter instanceof CitusAdapter;

export const acrossAccounts = (name: string): RawBuilder<unknown> =>
  sql.raw(`/* across accounts: ${name} */`);

/** One look into an index of each account, in one statement: most of thousands of accounts have nothing to do. */
export async function listAccountsWith(
  db: Db,
  name: string,
  isWanted: RawBuilder<unknown> = sql`true`,
): Promise<string[]> {
  const table = sql.table(name);
  // Citus cannot look into its servers from a table that each of them has.
  const accounts = isCitus(db)
    ? sql`select distinct merchant_account_id as account from ${table} where ${isWanted}`
    : sql`
      select account from (
        select id as account from merchant_accounts union all select unnest(${[allAccounts, noAccount]}::text[])
      ) as accounts
      cross join lateral (select from ${table} where merchant_account_id = account and ${isWanted} limit 1) as found`;
  const { rows } = await sql<{
    account: string;
  }>`${accounts} ${acrossAccounts('accounts-with-rows')}`.execute(db);
  return rows.map(({ account }) => account);
}

const minute = 60_000;
const counts = new WeakMap<object, { count: number; until: number }>();

/** How many merchant accounts there are, or were a minute ago. For choosing between statements that return the same. */
export async function countAccounts(db: Db): Promise<number> {
  // A request has a `Db` of its own, with the adapter of all others.
  const { adapter } = db.getExecutor();
  const known = counts.get(adapter);
  const now = performance.now();
  if (known && known.until > now) return known.count;
  const { rows } = await sql<{ count: number }>`select count(*) from merchant_accounts`.execute(db);
  const [{ count } = { count: 0 }] = rows;
  counts.set(adapter, { count, until: now + minute });
  return count;
}

/** These accounts as PostgreSQL writes an array, each once. */
export const arrayOf = onceFor((accounts) => {
  const names = [...new Set(accounts)].map((name) => `"${name.replace(/["\\]/g, '\\$&')}"`);
  return `{${names.join(',')}}`;
});

/**
 * For a list that is read in its order. PostgreSQL looks names up in a hash table; with `= any(…)`, a plan for any values compares them one
 * by one. `is true` prevents a join, which would not keep the order.
 */
export const isAmong = (account: RawBuilder<unknown>, accounts: readonly string[]): RawBuilder<SqlBool> =>
  sql`(${account} in (select unnest(${arrayOf(accounts)}::text[]))) is true`;

/** The records that exist, by account. */
export async function listAccountsOf(
  db: Db,
  table: keyof Tables,
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ account: string; ids: string[] }>`
    select merchant_account_id as account, array_agg(id::text) as ids from ${sql.table(table)}
    where id = any(${ids}::uuid[]) group by 1 ${acrossAccounts('account-of-id')}`.execute(db);
  return new Map(rows.map(({ account, ids: own }) => [account, own]));
}

/** Undefined when no account has this record. */
export async function findAccountOf(db: Db, table: keyof Tables, id: string): Promise<string | undefined> {
  const { rows } = await sql<{ account: string }>`
    select merchant_account_id as account from ${sql.table(table)} where id = ${id}::uuid
    ${acrossAccounts('account-of-id')}`.execute(db);
  return rows[0]?.account;
}

/** Finds a record for somebody who knows only its ID, by a query for one account. */
export const inAnyAccount =
  <In extends Db, Row>(
    table: keyof Tables,
    find: (db: In, account: string, id: string) => Promise<Row | undefined>,
  ) =>
  async (db: In, text: string): Promise<Row | undefined> => {
    const id = readUuid(text);
    const account = id === undefined ? undefined : await findAccountOf(db, table, id);
    return account === undefined ? undefined : find(db, account, text);
  };
