// How an index finds the rows of a merchant account that have a value. Its key has two 4-byte hashes instead of account and
// value, and the creation time: 16 bytes, whatever the length of the texts. PostgreSQL fills the pages of such an index as rows
// arrive, and leaves those of wider ones half empty. See docs/decisions/0020-transaction-indexes.md.
import { sql, type RawBuilder, type SqlBool } from 'kysely';

export type ValueType = 'text' | 'uuid';

const hashes = { text: 'hashtext', uuid: 'uuid_hash' };

/** That a column of `transactions` has this value. Others may have the same hash, so the value is compared, too. */
export const hasValue = (
  column: string,
  type: ValueType,
  value: RawBuilder<unknown>,
): RawBuilder<SqlBool> => {
  const own = sql.ref(`transactions.${column}`);
  const hash = sql.raw(hashes[type]);
  return sql`${own} = ${value} and ${hash}(${own}) = ${hash}(${value})`;
};

export const hasValueOf = (
  column: string,
  type: ValueType,
  values: readonly string[],
): RawBuilder<SqlBool> => {
  const own = sql.ref(`transactions.${column}`);
  const [hash, sqlType] = [sql.raw(hashes[type]), sql.raw(type)];
  const hashed = values.map((value) => sql`${hash}(${value}::${sqlType})`);
  return sql`${own} = any(${[...values]}::${sqlType}[]) and ${hash}(${own}) = any(array[${sql.join(hashed)}])`;
};

/** That a transaction belongs to this account: a parameter, or a column of a table that lists accounts. */
export const isOf = (account: RawBuilder<unknown>): RawBuilder<SqlBool> =>
  hasValue('merchant_account_id', 'text', account);

// Conditions that are always true, or add nothing to another one. They decide which index PostgreSQL can use.

/**
 * Belongs to this account. Rules out indexes without the hash of the account: the planner prefers those by time for a value that it
 * thinks common.
 */
export const isHashedOf = (account: RawBuilder<unknown>): RawBuilder<SqlBool> => {
  const own = sql.ref('transactions.merchant_account_id');
  return sql`(${own} = ${account}) is true and hashtext(${own}) = hashtext(${account})`;
};

/** The condition of transactions_everywhere. PostgreSQL uses that index only for statements that repeat it. */
export const inEverywhere = sql<SqlBool>`length(transactions.merchant_account_id) > 0`;

/** transactions_walk lacks this column. PostgreSQL would have to read each row, so it takes the index of the filter instead. */
export const notInWalk = sql<SqlBool>`transactions.intent <> ''`;
