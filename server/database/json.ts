// The JSON of a resource as PostgreSQL writes it, from the same table that presenters use. To read the columns, convert them
// and write them again takes Node three times as long as it takes PostgreSQL to write the text.
import type { Columns, SqlType } from './columns.ts';

/** An SQL expression of type text: `constants` and `columns` of a row of the table, in this order. */
export function jsonOf(table: string, constants: Readonly<Record<string, string>>, columns: Columns): string {
  const parts = [`'${JSON.stringify(constants).slice(0, -1)}'`];
  for (const [name, type] of Object.entries(columns))
    parts.push(`',${JSON.stringify(name)}:'`, written(`${table}.${name}`, type));
  return concat([...parts, `'}'`]);
}

/** PostgreSQL's functions take 100 arguments. */
const mostArguments = 100;

/** Not `||`, which copies for every part what it has so far. */
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
      // Not `case … when true`, which Citus cannot send on to its workers.
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
