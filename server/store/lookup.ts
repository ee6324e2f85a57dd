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

/** That a transaction belongs to this account: a parameter, or a column of a table that lists accounts. */
export const isOf = (account: RawBuilder<unknown>): RawBuilder<SqlBool> =>
  hasValue('merchant_account_id', 'text', account);
