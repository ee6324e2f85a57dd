// The filters of GET /transactions, as conditions. Each is written so that an index of 0003-transactions.ts serves it, and
// no value that the contract accepts can make the database complain: what cannot be stored matches nothing.
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { Input } from '../../generated/operations.ts';
import { stamp } from './paging.ts';
import type { TransactionsTable } from './transactions-table.ts';

type Query = Input<'listTransactions'>['query'];

export type TransactionFilters = Omit<Partial<Query>, 'cursor' | 'limit' | 'metadata'> & {
  metadata?: ReadonlyMap<string, string> | undefined;
};

export type Condition = RawBuilder<SqlBool>;

export interface Conditions {
  /** Inclusive. Apart from the rest, because a page is bounded on one side by its cursor instead. */
  created: { from: Date | undefined; to: Date | undefined };
  all: Condition[];
  /** If there are any, one of these must hold. */
  any: Condition[];
  /** A filter with several values, of which the row has one. */
  choice: Choice | undefined;
}

export interface Choice {
  column: Column;
  type: 'text' | 'uuid';
  values: string[];
}

type Column = keyof TransactionsTable;

const column = (name: Column) => sql.ref(`transactions.${name}`);
const nothing = sql<SqlBool>`false`;

/** As the indexes have it. */
const textIs = (name: Column, value: string): Condition => sql`left(${column(name)}, 201) = ${value}`;
const is = (name: Column, value: number | string): Condition => sql`${column(name)} = ${value}`;
const uuidIs = (name: Column, value: string): Condition => {
  const uuid = readUuid(value);
  return uuid === undefined ? nothing : is(name, uuid);
};
const flag = (name: Column, value: boolean): Condition =>
  value ? sql`${column(name)}` : sql`not ${column(name)}`;

type Simple = {
  [Name in keyof TransactionFilters]?: (value: NonNullable<TransactionFilters[Name]>) => Condition;
};

const simple = {
  id: (value) => uuidIs('id', value),
  amount_eq: (value) => is('amount', value),
  amount_gte: (value) => sql`${column('amount')} >= ${value}`,
  amount_lte: (value) => sql`${column('amount')} <= ${value}`,
  updated_at_gte: (value) => sql`${column('updated_at')} >= ${stamp(notBefore(value))}`,
  updated_at_lte: (value) => sql`${column('updated_at')} <= ${stamp(notAfter(value))}`,
  buyer_id: (value) => uuidIs('buyer_id', value),
  buyer_external_identifier: (value) => textIs('buyer_external_identifier', value),
  checkout_session_id: (value) => uuidIs('checkout_session_id', value),
  external_identifier: (value) => textIs('external_identifier', value),
  gift_card_id: (value) => sql`${column('gift_card_ids')} @> array[${readUuid(value) ?? null}]::uuid[]`,
  gift_card_last4: (value) => sql`${column('gift_card_last4s')} @> array[${value}]::text[]`,
  has_gift_card_redemptions: (value) => flag('has_gift_card_redemptions', value),
  has_refunds: (value) => flag('has_refunds', value),
  has_settlements: (value) => flag('has_settlements', value),
  payment_method_id: (value) => uuidIs('payment_method_id', value),
  payment_method_label: (value) => textIs('payment_method_label', value),
  payment_method_bin: (value) => textIs('payment_method_bin', value),
  payment_service_transaction_id: (value) => textIs('payment_service_transaction_id', value),
  pending_review: (value) => flag('pending_review', value),
  reconciliation_id: (value) => textIs('reconciliation_id', value),
  is_subsequent_payment: (value) => flag('is_subsequent_payment', value),
  merchant_initiated: (value) => flag('merchant_initiated', value),
  metadata: (value) => contains(value),
} satisfies Simple;

const severalValued = {
  payment_service_id: 'uuid',
  status: 'text',
  currency: 'text',
  method: 'text',
  payment_source: 'text',
} as const satisfies Partial<Record<keyof TransactionFilters & Column, Choice['type']>>;

export function conditionsOf(filters: TransactionFilters): Conditions {
  const all: Condition[] = [];
  for (const [name, condition] of Object.entries(simple)) {
    const value = filters[name as keyof typeof simple];
    if (value !== undefined) all.push((condition as (value: unknown) => Condition)(value));
  }
  const several: Choice[] = [];
  for (const [name, type] of Object.entries(severalValued) as [
    keyof typeof severalValued,
    Choice['type'],
  ][]) {
    const given = filters[name];
    if (given === undefined) continue;
    const values = [...new Set(type === 'uuid' ? given.flatMap((value) => readUuid(value) ?? []) : given)];
    const [first] = values;
    if (first === undefined) all.push(nothing);
    else if (values.length === 1) all.push(is(name, first));
    else several.push({ column: name, type, values });
  }
  // The one with the fewest values is what the list is looked up by; rows are then held against the others.
  const [choice, ...others] = several.sort((a, b) => a.values.length - b.values.length);
  for (const { column: name, type, values } of others)
    all.push(sql`${column(name)} = any(${values}::${sql.raw(type)}[])`);
  return {
    created: {
      from: filters.created_at_gte === undefined ? undefined : notBefore(filters.created_at_gte),
      to: filters.created_at_lte === undefined ? undefined : notAfter(filters.created_at_lte),
    },
    all,
    any: filters.search === undefined ? [] : searchFor(filters.search),
    choice,
  };
}

// Apart, not with `or`: each has its index, so a search is as quick as five filters.
const searchFor = (value: string): Condition[] => [
  textIs('external_identifier', value),
  textIs('buyer_external_identifier', value),
  textIs('payment_service_transaction_id', value),
  ...(readUuid(value) === undefined ? [] : [uuidIs('id', value), uuidIs('buyer_id', value)]),
];

function contains(wanted: ReadonlyMap<string, string>): Condition {
  if (wanted.size === 0) return sql`true`;
  const text = JSON.stringify(Object.fromEntries(wanted));
  return isStorable(text) ? sql`${column('metadata')} @> ${text}::jsonb` : nothing;
}

/** Whether PostgreSQL can store what this JSON text says: it has no U+0000, and no half of a surrogate pair. */
export const isStorable = (json: string): boolean => !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i.test(json);

/** As the contract understands a UUID, in its one spelling. */
export function readUuid(text: string): string | undefined {
  const uuid = text.toLowerCase().replace(/^urn:uuid:/, '');
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid) ? uuid : undefined;
}

const dateTime =
  /^(\d{4})-(\d\d)-(\d\d)[t\s](\d\d):(\d\d):(\d\d)(?:\.(\d{1,3})(\d*))?(?:z|([+-])(\d\d):?(\d\d)?)$/i;

/** The millisecond that an RFC 3339 date-time falls in, and whether it is later than that millisecond's beginning. */
function readInstant(text: string): { time: Date; isLater: boolean } {
  const parts = dateTime.exec(text);
  if (!parts) throw new RangeError(`Not a date-time: ${text}`);
  const [, year, month, day, hour, minute, second, fraction = '', beyond = '', sign, hours, minutes] = parts;
  const offset = (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0));
  const time = new Date(0);
  // Not Date.UTC, which takes the year 26 for 1926. A leap second overflows into the next minute, as in the database.
  time.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  time.setUTCHours(Number(hour), Number(minute) - offset, Number(second), Number(fraction.padEnd(3, '0')));
  return { time, isLater: /[1-9]/.test(beyond) };
}

/** Stored times are whole milliseconds, so the earliest one that is not before the given time is rounded up. */
function notBefore(text: string): Date {
  const { time, isLater } = readInstant(text);
  return isLater ? new Date(time.getTime() + 1) : time;
}

export const notAfter = (text: string): Date => readInstant(text).time;
