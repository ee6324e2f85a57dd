// How a table is described: once, as data. Kysely's types, insert lists and presenters (server/present) derive from it, so a
// new column is one line. `shown` columns are properties of the API's resource, stored as they are shown, under the same
// name; the contract gives their TypeScript type.
import type { ColumnType } from 'kysely';

export type SqlType =
  'text' | 'uuid' | 'bigint' | 'integer' | 'boolean' | 'timestamptz' | 'json' | 'jsonb' | 'text[]' | 'uuid[]';

export type Columns = Readonly<Record<string, SqlType>>;

/** Holds the properties of `Resource` that are columns, each exactly once; `Computed` are those that are not stored as such. */
export type Shown<Resource, Computed extends keyof Resource> = {
  readonly [Name in Exclude<keyof Resource, Computed>]: SqlType;
};

/** Timestamps are Date inside; presenters make ISO strings of them. */
type Stored<Sql, Value> = Sql extends 'timestamptz' ? (null extends Value ? Date | null : Date) : Value;

type Written<Sql, Value> = Sql extends 'json' | 'jsonb'
  ? string | Extract<Value, null>
  : Sql extends 'timestamptz'
    ? Date | string | Extract<Value, null>
    : Value;

type Column<Sql, Value, Default> = ColumnType<
  Stored<Sql, Value>,
  Default extends true ? Written<Sql, Value> | undefined : Written<Sql, Value>,
  Written<Sql, Value>
>;

/** The Kysely types of shown columns. The database fills in those named in `Defaults` when they are left out. */
export type ShownColumns<Table extends Columns, Resource, Defaults extends keyof Table = never> = {
  [Name in keyof Table & keyof Resource]: Column<
    Table[Name],
    Resource[Name],
    Name extends Defaults ? true : false
  >;
};

/** A resource as it is given to queries: what would be null may be left out, so a new nullable column changes no caller. */
export type Given<Resource> = {
  [Name in keyof Resource as null extends Resource[Name] ? never : Name]: Resource[Name];
} & {
  [Name in keyof Resource as null extends Resource[Name] ? Name : never]?: Resource[Name] | undefined;
};

export type Stamp = ColumnType<Date, Date | string | undefined, Date | string>;
export type MaybeStamp = ColumnType<Date | null, Date | null | undefined, Date | null>;

// Presenters turn a row into the resource that the API shows, in answers and in events alike. This is their common part.
/** The shown columns of a row, with timestamps as ISO strings. The table itself ties `Shown` to the type of the row. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- callers name both sides
export function presentColumns<Row extends object, Shown>(columns: Columns): (row: Row) => Shown {
  const entries = Object.entries(columns);
  return (row) => {
    const shown: Record<string, unknown> = {};
    for (const [name, sql] of entries) {
      const value = (row as Record<string, unknown>)[name];
      shown[name] = sql === 'timestamptz' && value !== null ? iso(value as Date | string) : value;
    }
    return shown as Shown;
  };
}

// Rows that PostgreSQL nested as JSON have their timestamps as text.
const iso = (time: Date | string): string => new Date(time).toISOString();
