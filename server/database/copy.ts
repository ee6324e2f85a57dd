// COPY is the fastest way to write very many rows: PostgreSQL puts them into the table page by page. It knows no `on conflict`,
// so the rows must be new.
import { once } from 'node:events';
import { CompiledQuery } from 'kysely';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { timestamp, type SqlType } from './columns.ts';
import type { Tx } from './unit-of-work.ts';

type Columns = readonly (readonly [name: string, type: SqlType])[];

/** A row in COPY's text format. Times are Dates. */
export const copyRow = (columns: Columns, row: Readonly<Record<string, unknown>>): string =>
  `${columns.map(([name, type]) => field(type, row[name])).join('\t')}\n`;

function field(type: SqlType, value: unknown): string {
  if (value === null || value === undefined) return '\\N';
  if (value instanceof Date) return timestamp(value);
  if (Array.isArray(value) && type.endsWith('[]')) return escaped(`{${value.map(quoted).join()}}`);
  // A number or a boolean is written as JSON writes it.
  const isText = typeof value === 'string' && type !== 'json' && type !== 'jsonb';
  return escaped(isText ? value : JSON.stringify(value));
}

/** An element of an array: quoted, so that it is never taken for a comma, a brace or null. */
const quoted = (element: unknown): string => `"${String(element).replace(/["\\]/g, '\\$&')}"`;

const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
const escaped = (text: string): string =>
  text.replace(/[\\\t\n\r]/g, (character) => escapes[character] ?? '');

export async function copyRows(
  db: Tx,
  table: string,
  columns: Columns,
  rows: readonly string[],
): Promise<void> {
  if (rows.length === 0) return;
  const names = columns.map(([name]) => name).join(', ');
  await db.executeQuery(CompiledQuery.raw(`copy ${table} (${names}) from stdin`, [rows.join('')]));
}

export const isCopy = (statement: string): boolean => statement.startsWith('copy ');

/** Runs `copy … from stdin` with these rows. */
export async function copyIn(
  client: pg.ClientBase,
  statement: string,
  rows: string,
): Promise<pg.QueryResult> {
  const stream = client.query(copyFrom(statement));
  stream.end(rows);
  await once(stream, 'finish');
  return { command: 'COPY', rowCount: stream.rowCount, oid: 0, rows: [], fields: [] };
}
