// The filters of GET /transactions as SQL conditions, in one table. If a filter of the contract is missing there, the code
// does not compile. Each condition can use an index of migrations/0001-schema/transactions.ts. No value that the contract accepts
// may cause a database error: a value that cannot be stored matches nothing.
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { Input } from '../../kit/contract/handler-types.ts';
import { resolve, type Document, type Parameter } from '../../kit/contract/load.ts';
import { timestamp } from '../../kit/database/columns.ts';
import { OperatorFault } from '../../kit/faults.ts';
import { readUuid, notAfter, notBefore, isStorable } from '../../kit/rules/values.ts';
import { hasValue, hasValueOf, type ValueType } from './lookup.ts';
import type { TransactionsTable } from './table.ts';

type Query = Omit<Input<'listTransactions'>['query'], 'cursor' | 'limit'>;

export type TransactionFilters = Partial<Omit<Query, 'metadata'>> & {
  metadata?: ReadonlyMap<string, string> | undefined;
};

export type Condition = RawBuilder<SqlBool>;

/** A condition for an index whose entries contain the account. */
interface AccountCondition {
  plain: Condition;
  /** In one of these: parameters, or a column of a table that lists accounts. */
  of: (accounts: readonly RawBuilder<unknown>[]) => Condition;
}

/** What filters ask for, and what must be known of them to find the rows. See docs/decisions/0020-transaction-indexes.md. */
export interface Conditions {
  /** Inclusive. Separate from `all`, because the cursor of a page replaces one of the two. */
  created: Period;
  all: Condition[];
  /** Must all be true, too. Their index has the account in its entries, so each can name it. */
  ofAccount: AccountCondition[];
  /** If not empty, one of them must be true. */
  any: Condition[];
  /** A filter with several values, of which the row must have one. Only if there is no other filter. */
  choice: Choice | undefined;
  /** Few rows match, whatever the other filters are. */
  hasIdentifier: boolean;
  /** The only filter has an index with hashes: see lookup.ts. */
  isHashed: boolean;
  /** The page may lie anywhere in the account: the entries of transactions_walk are compared in the order of the list. */
  isWalk: boolean;
  /** Some index gives its rows in no order, so a statement must not be planned to read in order. */
  hasGin: boolean;
}

interface Period {
  from?: Date | undefined;
  to?: Date | undefined;
}

interface Choice {
  column: Column;
  type: ValueType;
  values: string[];
}

type Column = keyof TransactionsTable;

type Part = Partial<Omit<Conditions, 'isHashed'>>;

const column = (name: Column) => sql.ref(`transactions.${name}`);
const nothing = sql<SqlBool>`false`;

// Kinds of filters, and the index that finds the rows if there is no other filter.
/** IDs, references, BIN, label: transactions_by_…, with hashes and the time. */
const identifier = (condition: Condition): Part => ({ all: [condition], hasIdentifier: true });
/** Amounts, updated_at, flags: transactions_walk, or one of their own if few rows match. */
const compared = (condition: Condition): Part => ({ all: [condition], isWalk: true });
/** Values in lists: GIN. */
const contained = (condition: Condition): Part => ({ all: [condition], hasGin: true });
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
const isFlag = (name: Column, value: boolean): Condition =>
  value ? sql`${column(name)}` : sql`not ${column(name)}`;
const flag = (name: Column, value: boolean): Part => compared(isFlag(name, value));
/** Status, currency and the like: transactions_by_…, with hashes and the time. */
const oneOf = (name: Column, type: ValueType, values: readonly string[]): Part => ({
  choice: {
    column: name,
    type,
    values: [...new Set(type === 'uuid' ? values.flatMap((value) => readUuid(value) ?? []) : values)],
  },
});

const filters: {
  readonly [Name in keyof Required<TransactionFilters>]: (
    value: NonNullable<TransactionFilters[Name]>,
    given: TransactionFilters,
  ) => Part;
} = {
  id: (value) => identifier(idIs(value)),
  amount_eq: (value) => compared(sql`${column('amount')} = ${value}`),
  amount_gte: (value) => compared(sql`${column('amount')} >= ${value}`),
  amount_lte: (value) => compared(sql`${column('amount')} <= ${value}`),
  created_at_gte: (value) => ({ created: { from: notBefore(value) } }),
  created_at_lte: (value) => ({ created: { to: notAfter(value) } }),
  updated_at_gte: (value) => compared(sql`${column('updated_at')} >= ${timestamp(notBefore(value))}`),
  // What was updated by a time was also created by then. Without that bound a scan by time would begin at the newest transaction.
  updated_at_lte: (value) => ({
    ...compared(sql`${column('updated_at')} <= ${timestamp(notAfter(value))}`),
    created: { to: notAfter(value) },
  }),
  buyer_id: (value) => identifier(uuidIs('buyer_id', value)),
  buyer_external_identifier: (value) => identifier(textIs('buyer_external_identifier', value)),
  checkout_session_id: (value) => identifier(uuidIs('checkout_session_id', value)),
  currency: (values) => oneOf('currency', 'text', values),
  external_identifier: (value) => identifier(textIs('external_identifier', value)),
  gift_card_id: (value) =>
    contained(sql`${column('gift_card_ids')} @> array[${readUuid(value) ?? null}]::uuid[]`),
  gift_card_last4: (value) => contained(sql`${column('gift_card_last4s')} @> array[${value}]::text[]`),
  has_gift_card_redemptions: (value) => flag('has_gift_card_redemptions', value),
  has_refunds: (value) => flag('has_refunds', value),
  // transactions_by_settlements and transactions_by_no_settlements, in the order of the list.
  has_settlements: (value) => ({ all: [isFlag('has_settlements', value)] }),
  is_subsequent_payment: (value) => flag('is_subsequent_payment', value),
  merchant_initiated: (value) => flag('merchant_initiated', value),
  metadata: containsMetadata,
  method: (values) => oneOf('method', 'text', values),
  payment_method_bin: (value) => identifier(textIs('payment_method_bin', value)),
  payment_method_id: (value) => identifier(uuidIs('payment_method_id', value)),
  payment_method_label: (value) => identifier(textIs('payment_method_label', value)),
  payment_service_id: (values) => oneOf('payment_service_id', 'uuid', values),
  payment_service_transaction_id: (value) => identifier(textIs('payment_service_transaction_id', value)),
  payment_source: (values) => oneOf('payment_source', 'text', values),
  pending_review: (value) => flag('pending_review', value),
  reconciliation_id: (value) => identifier(textIs('reconciliation_id', value)),
  search: (value, given) => ({ any: searched(value, given), hasIdentifier: true }),
  status: (values) => oneOf('status', 'text', values),
};

/** A filter of the contract that is not in the table would fail every request with it, and nobody compiles before a start. */
export function refuseMissingFilters(document: Document): void {
  const parameters = document.paths['/transactions']?.['get']?.parameters ?? [];
  const names = parameters
    .map((one) => resolve<Parameter>(document, one))
    .filter((one) => one.in === 'query');
  const missing = names
    .map(({ name }) => name)
    .filter((name) => !(name in filters) && !/^(cursor|limit)$/.test(name));
  if (missing.length > 0)
    throw new OperatorFault(
      `GET /transactions has filters without a condition: ${missing.join(', ')}. Add a line for each to server/resources/transactions/filters.ts.`,
    );
}

/**
 * A list of conditions instead of one `or`, so that each can use its own index. A column that another filter gives another value
 * cannot match, and is left out: PostgreSQL would plan to read all rows with that other value.
 */
function searched(value: string, given: TransactionFilters): Condition[] {
  const uuid = readUuid(value);
  const any = [
    ...(['external_identifier', 'buyer_external_identifier', 'payment_service_transaction_id'] as const)
      .filter((name) => (given[name] ?? value) === value)
      .map((name) => textIs(name, value)),
    ...(['id', 'buyer_id'] as const)
      .filter((name) => uuid !== undefined && readUuid(given[name] ?? value) === uuid)
      .map((name) => (name === 'id' ? idIs(value) : uuidIs(name, value))),
  ];
  return any.length > 0 ? any : [nothing];
}

export function conditionsOf(given: TransactionFilters): Conditions {
  const parts = Object.entries(given).flatMap(([name, value]) => {
    const partOf = filters[name as keyof typeof filters] as (value: unknown, all: TransactionFilters) => Part;
    return value === undefined ? [] : [partOf(value, given)];
  });
  const all = parts.flatMap((part) => part.all ?? []);
  const ofAccount = parts.flatMap((part) => part.ofAccount ?? []);
  const any = parts.flatMap((part) => part.any ?? []);
  const choices = parts.flatMap((part) => part.choice ?? []);
  const hasIdentifier = parts.some((part) => part.hasIdentifier);
  const hasSearch = any.length > 0;
  const others = all.length + ofAccount.length + choices.length;
  /** There is one filter, apart from the time of creation. A search is one, with several conditions. */
  const isOne = hasSearch ? others === 0 : others === 1;
  const [only] = choices;
  const choice = isOne && only && only.values.length > 1 ? only : undefined;
  if (!choice) all.push(...choices.map(hasOneOf));
  return {
    created: parts.reduce<Period>((period, part) => within(period, part.created), {}),
    all,
    ofAccount,
    any,
    choice,
    hasIdentifier,
    isHashed: isOne && (hasIdentifier || choices.length === 1),
    isWalk: !choice && (all.length > 1 || parts.some((part) => part.isWalk)),
    hasGin: parts.some((part) => part.hasGin),
  };
}

const within = (one: Period, other: Period = {}): Period => ({
  from: one.from ?? other.from,
  to: one.to && other.to && one.to < other.to ? one.to : (other.to ?? one.to),
});

/** Also compares hashes, so that rare values are found in their index. */
function hasOneOf({ column: name, type, values }: Choice): Condition {
  const [first, second] = values;
  if (first === undefined) return nothing;
  return second === undefined ? is(name, type, first) : hasValueOf(name, type, values);
}

// The index has the metadata as a property with the name of the account, so that rows of other accounts are not read.
function containsMetadata(required: ReadonlyMap<string, string>): Part {
  if (required.size === 0) return { all: [sql`true`] };
  const text = JSON.stringify(Object.fromEntries(required));
  if (!isStorable(text)) return identifier(nothing);
  const inAccount = (account: RawBuilder<unknown>, metadata: RawBuilder<unknown>) =>
    sql`jsonb_set('{}', array[${account}], ${metadata})`;
  const own = inAccount(column('merchant_account_id'), column('metadata'));
  const wanted = sql`${text}::jsonb`;
  const condition: AccountCondition = {
    plain: sql`${column('metadata')} @> ${wanted}`,
    of: (accounts) => {
      const [first, ...others] = accounts.map((account) => inAccount(account, wanted));
      return others.length === 0
        ? sql`${own} @> ${first}`
        : sql`${own} @> any(array[${sql.join([first, ...others])}])`;
    },
  };
  return { ofAccount: [condition], hasGin: true };
}
