// The filters of GET /transactions as SQL conditions, in one table. If a filter of the contract is missing there, the code
// does not compile. Each condition can use an index of 0018-transaction-indexes.ts or a later migration. No value that the contract accepts may
// cause a database error: a value that cannot be stored matches nothing.
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { Input } from '../../generated/operations.ts';
import { notAfter, notBefore } from '../domain/instants.ts';
import { isStorable } from '../domain/storable.ts';
import { readUuid } from '../domain/uuid.ts';
import { hasValue, type ValueType } from './lookup.ts';
import { timestamp } from './paging.ts';
import type { TransactionsTable } from './tables/transactions.ts';

type Query = Omit<Input<'listTransactions'>['query'], 'cursor' | 'limit'>;

export type TransactionFilters = Partial<Omit<Query, 'metadata'>> & {
  metadata?: ReadonlyMap<string, string> | undefined;
};

export type Condition = RawBuilder<SqlBool>;

/** A condition for an index whose entries contain the account. */
export interface AccountCondition {
  plain: Condition;
  /** `account` is a parameter, or a column of a table that lists accounts. */
  of: (account: RawBuilder<unknown>) => Condition;
}

export interface Conditions {
  /** Inclusive. Separate from `all`, because the cursor of a page replaces one of the two. */
  created: { from: Date | undefined; to: Date | undefined };
  /** Inclusive, and also in `all`: see `createdRanges` in transaction-list.ts. */
  updatedTo: Date | undefined;
  all: Condition[];
  /** Like `all`. */
  ofAccount: AccountCondition[];
  /** If not empty, one of them must be true. */
  any: Condition[];
  /** A filter with several values, of which the row must have one. */
  choice: Choice | undefined;
}

export interface Choice {
  column: Column;
  type: ValueType;
  values: string[];
}

type Column = keyof TransactionsTable;

/** What one filter contributes. */
type Part =
  | { where: Condition }
  | { ofAccount: AccountCondition }
  | { from: Date }
  | { to: Date }
  | { updatedTo: Date }
  | { any: Condition[] }
  | Choice;

const column = (name: Column) => sql.ref(`transactions.${name}`);
const nothing = sql<SqlBool>`false`;

const where = (condition: Condition): Part => ({ where: condition });
const is = (name: Column, type: ValueType, value: string): Condition =>
  hasValue(name, type, sql`${value}::${sql.raw(type)}`);
const textIs = (name: Column, value: string): Condition => is(name, 'text', value);
const uuidIs = (name: Column, value: string): Condition => {
  const uuid = readUuid(value);
  return uuid === undefined ? nothing : is(name, 'uuid', uuid);
};
const idIs = (value: string): Condition => {
  const uuid = readUuid(value);
  return uuid === undefined ? nothing : sql`${column('id')} = ${uuid}`;
};
const flag = (name: Column, value: boolean): Part =>
  where(value ? sql`${column(name)}` : sql`not ${column(name)}`);
const oneOf = (name: Column, type: ValueType, values: readonly string[]): Part => ({
  column: name,
  type,
  values: [...new Set(type === 'uuid' ? values.flatMap((value) => readUuid(value) ?? []) : values)],
});

const filters: {
  readonly [Name in keyof Required<TransactionFilters>]: (
    value: NonNullable<TransactionFilters[Name]>,
  ) => Part;
} = {
  id: (value) => where(idIs(value)),
  amount_eq: (value) => where(sql`${column('amount')} = ${value}`),
  amount_gte: (value) => where(sql`${column('amount')} >= ${value}`),
  amount_lte: (value) => where(sql`${column('amount')} <= ${value}`),
  created_at_gte: (value) => ({ from: notBefore(value) }),
  created_at_lte: (value) => ({ to: notAfter(value) }),
  updated_at_gte: (value) => where(sql`${column('updated_at')} >= ${timestamp(notBefore(value))}`),
  updated_at_lte: (value) => ({ updatedTo: notAfter(value) }),
  buyer_id: (value) => where(uuidIs('buyer_id', value)),
  buyer_external_identifier: (value) => where(textIs('buyer_external_identifier', value)),
  checkout_session_id: (value) => where(uuidIs('checkout_session_id', value)),
  currency: (values) => oneOf('currency', 'text', values),
  external_identifier: (value) => where(textIs('external_identifier', value)),
  gift_card_id: (value) =>
    where(sql`${column('gift_card_ids')} @> array[${readUuid(value) ?? null}]::uuid[]`),
  gift_card_last4: (value) => where(sql`${column('gift_card_last4s')} @> array[${value}]::text[]`),
  has_gift_card_redemptions: (value) => flag('has_gift_card_redemptions', value),
  has_refunds: (value) => flag('has_refunds', value),
  has_settlements: (value) => flag('has_settlements', value),
  is_subsequent_payment: (value) => flag('is_subsequent_payment', value),
  merchant_initiated: (value) => flag('merchant_initiated', value),
  metadata: containsMetadata,
  method: (values) => oneOf('method', 'text', values),
  payment_method_bin: (value) => where(textIs('payment_method_bin', value)),
  payment_method_id: (value) => where(uuidIs('payment_method_id', value)),
  payment_method_label: (value) => where(textIs('payment_method_label', value)),
  payment_service_id: (values) => oneOf('payment_service_id', 'uuid', values),
  payment_service_transaction_id: (value) => where(textIs('payment_service_transaction_id', value)),
  payment_source: (values) => oneOf('payment_source', 'text', values),
  pending_review: (value) => flag('pending_review', value),
  reconciliation_id: (value) => where(textIs('reconciliation_id', value)),
  // A list of conditions instead of one `or`, so that each can use its own index.
  search: (value) => ({
    any: [
      textIs('external_identifier', value),
      textIs('buyer_external_identifier', value),
      textIs('payment_service_transaction_id', value),
      ...(readUuid(value) === undefined ? [] : [idIs(value), uuidIs('buyer_id', value)]),
    ],
  }),
  status: (values) => oneOf('status', 'text', values),
};

export function conditionsOf(given: TransactionFilters): Conditions {
  const conditions: Conditions = {
    created: { from: undefined, to: undefined },
    updatedTo: undefined,
    all: [],
    ofAccount: [],
    any: [],
    choice: undefined,
  };
  const several: Choice[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const part = (filters[name as keyof typeof filters] as (value: unknown) => Part)(value);
    if ('where' in part) conditions.all.push(part.where);
    else if ('ofAccount' in part) conditions.ofAccount.push(part.ofAccount);
    else if ('from' in part) conditions.created.from = part.from;
    else if ('to' in part) conditions.created.to = part.to;
    else if ('updatedTo' in part) {
      conditions.updatedTo = part.updatedTo;
      conditions.all.push(sql`${column('updated_at')} <= ${timestamp(part.updatedTo)}`);
    } else if ('any' in part) conditions.any = part.any;
    else if (part.values.length > 1) several.push(part);
    else
      conditions.all.push(
        part.values[0] === undefined ? nothing : is(part.column, part.type, part.values[0]),
      );
  }
  // The index scan follows the filter with the fewest values; its rows are then checked against the others.
  const [choice, ...others] = several.sort((a, b) => a.values.length - b.values.length);
  for (const { column: name, type, values } of others)
    conditions.all.push(sql`${column(name)} = any(${values}::${sql.raw(type)}[])`);
  return { ...conditions, choice };
}

// The index has the metadata as a property with the name of the account, so that rows of other accounts are not read.
function containsMetadata(required: ReadonlyMap<string, string>): Part {
  if (required.size === 0) return where(sql`true`);
  const text = JSON.stringify(Object.fromEntries(required));
  if (!isStorable(text)) return where(nothing);
  const within = (account: RawBuilder<unknown>, metadata: RawBuilder<unknown>) =>
    sql`jsonb_set('{}', array[${account}], ${metadata})`;
  const own = within(column('merchant_account_id'), column('metadata'));
  const wanted = sql`${text}::jsonb`;
  return {
    ofAccount: {
      plain: sql`${column('metadata')} @> ${wanted}`,
      of: (account) => sql`${own} @> ${within(account, wanted)}`,
    },
  };
}
