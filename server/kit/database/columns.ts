// How a table is described: once, as data. Kysely's types, insert lists and presenters derive from it, so a
// new column is one line. `shown` columns are properties of the API's resource, stored as they are shown, under the same
// name; the contract gives their TypeScript type.
import { sql, type ColumnType } from 'kysely';
import type { DatabaseTime } from '../rules/database-time.ts';

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

/** For `updated_at`: of two transactions that change a row, the one that ends last may have begun first. */
export const notBack = (now: DatabaseTime) => sql<Date>`greatest(updated_at, ${now})`;

export type Stamp = ColumnType<Date, Date | string | undefined, Date | string>;
export type MaybeStamp = ColumnType<Date | null, Date | null | undefined, Date | null>;

/** Makes presenters: they turn a row into the properties of the resource that are columns, with timestamps as ISO strings. */
export const presentColumns =
  <Resource>() =>
  <Table extends Columns>(columns: Table) => {
    const entries = Object.entries(columns);
    return (row: Readonly<Record<keyof Table, unknown>>): Pick<Resource, keyof Resource & keyof Table> => {
      const shown: Record<string, unknown> = {};
      for (const [name, sql] of entries) {
        const value = row[name];
        shown[name] = sql === 'timestamptz' && value !== null ? iso(value as Date | string) : value;
      }
      return shown as Pick<Resource, keyof Resource & keyof Table>;
    };
  };

// Rows that PostgreSQL nested as JSON have their timestamps as text.
const iso = (time: Date | string): string => new Date(time).toISOString();

// The JSON of a resource as PostgreSQL writes it, from the same table that presenters use. Node would need three times as long to
// read the columns, convert them and write them again.

/** An SQL expression of type text: `constants` and `columns` of a row of the table, in this order. */
export function jsonOf(table: string, constants: Readonly<Record<string, string>>, columns: Columns): string {
  const parts = [`'${JSON.stringify(constants).slice(0, -1)}'`];
  for (const [name, type] of Object.entries(columns))
    parts.push(`',${JSON.stringify(name)}:'`, written(`${table}.${name}`, type));
  return concat([...parts, `'}'`]);
}

/** PostgreSQL's functions take 100 arguments. */
const mostArguments = 100;

/** Not `||`: each one copies the whole text up to there. */
function concat(parts: readonly string[]): string {
  if (parts.length <= mostArguments) return `concat(${parts.join(', ')})`;
  return `concat(${parts.slice(0, mostArguments - 1).join(', ')}, ${concat(parts.slice(mostArguments - 1))})`;
}

function written(column: string, type: SqlType): string {
  switch (type) {
    case 'uuid':
      return `coalesce('"' || ${column} || '"', 'null')`;
    case 'bigint':
    case 'integer':
    case 'json':
    case 'jsonb':
      return `coalesce(${column}::text, 'null')`;
    case 'boolean':
      // Not `case … when true`, which is refused where a query is sent on to other servers.
      return `case when ${column} then 'true' when not ${column} then 'false' else 'null' end`;
    case 'text':
      return `coalesce(to_json(${column})::text, 'null')`;
    case 'timestamptz':
      return `coalesce('"' || (${isoTime(`(${column} at time zone 'UTC')`)}) || '"', 'null')`;
    case 'text[]':
    case 'uuid[]':
      return `coalesce(array_to_json(${column})::text, 'null')`;
  }
}

// As Date.toISOString() writes it, whatever the time zone of the session. The year 0 of ISO 8601 is 1 BC in PostgreSQL.
const isoTime = (time: string): string => `
  case when ${time} < '0001-01-01' then '0000' || to_char(${time}, '-MM-DD"T"HH24:MI:SS.MS"Z"')
  else to_char(${time}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end`;

/** In PostgreSQL's notation. pg would write local time, and PostgreSQL calls the year 0 of ISO 8601 1 BC. */
export function timestamp(time: Date): string {
  const year = time.getUTCFullYear();
  const date = `${String(year > 0 ? year : 1 - year).padStart(4, '0')}${time.toISOString().slice(-20)}`;
  return year > 0 ? date : `${date} BC`;
}
