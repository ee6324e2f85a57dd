// The types of tables, for Kysely. The table.ts of a resource adds its own to them. `applied_migrations` has no type: only raw SQL
// uses it.
import type { ColumnType, InsertType, SelectType, UpdateType } from 'kysely';
import type { EventName } from '../../../generated/operations.ts';

export interface Tables {
  settings: { name: string; value: string };
  rate_limits: { key: string; points: number; expire: number | null };
}

/** `payment_methods`, for an event `payment-method.created`. */
export type TableOf<Name extends string> = Name extends `${infer Resource}.${string}`
  ? `${Underscored<Resource>}s`
  : never;

type Underscored<Text extends string> = Text extends `${infer First}-${infer Rest}`
  ? `${First}_${Underscored<Rest>}`
  : Text;

type CreatedTable = TableOf<Extract<EventName, `${string}.created`>>;
type UpdatedTable = TableOf<Exclude<EventName, `${string}.${'created' | 'deleted'}`>>;

/** Nothing has a value for the last column, so a new row does not compile. */
type NotInserted<Table> = {
  [Column in keyof Table]: ColumnType<SelectType<Table[Column]>, never, UpdateType<Table[Column]>>;
} & { [writesItsEvent]: ColumnType<never, never[], never> };

declare const writesItsEvent: unique symbol;

type NotUpdated<Table> = {
  [Column in keyof Table]: ColumnType<SelectType<Table[Column]>, InsertType<Table[Column]>, never>;
};

type WithoutInserts<Name, Table> = Name extends CreatedTable ? NotInserted<Table> : Table;
type WithoutUpdates<Name, Table> = Name extends UpdatedTable ? NotUpdated<Table> : Table;

/**
 * What a transaction may write: not the rows of a resource that the contract has events for. Only `withEvent`, which publishes them, can
 * write those.
 */
export type TablesWithoutEvents = {
  [Name in keyof Tables]: WithoutInserts<Name, WithoutUpdates<Name, Tables[Name]>>;
};
