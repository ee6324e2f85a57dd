// How an index finds the rows of a merchant account that have a value. Its key is an 8-byte hash of account and value instead of
// both texts: that is a third of the size, whatever their length, and rows of other accounts are never read. Different values
// may have the same hash, so a condition compares the value, too. See docs/decisions/0020-transaction-indexes.md.
import { sql, type RawBuilder, type SqlBool } from 'kysely';

export type ValueType = 'text' | 'uuid';

/** The part of the key for the account; as seed, it makes the hash of the same value another one in each account. */
export const accountHash = (account: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`hashtextextended(${account}, 0)`;

const valueHash = (type: ValueType, value: RawBuilder<unknown>, account: RawBuilder<unknown>) =>
  sql`${sql.raw(type === 'uuid' ? 'uuid_hash_extended' : 'hashtextextended')}(${value}, ${accountHash(account)})`;

/** That a column of `transactions` has this value. `account` is the account that the statement asks for. */
export const hasValue = (
  column: string,
  type: ValueType,
  value: RawBuilder<unknown>,
  account: RawBuilder<unknown>,
): RawBuilder<SqlBool> => {
  const own = sql.ref(`transactions.${column}`);
  const owner = sql.ref('transactions.merchant_account_id');
  return sql`(${own} = ${value} and ${valueHash(type, own, owner)} = ${valueHash(type, value, account)})`;
};
