// COPY is the fastest way to write very many rows: PostgreSQL reads its lines at half the price of JSON, and puts them into the
// table page by page. It knows no `on conflict`, so the rows must be new.
import { once } from 'node:events';
import { CompiledQuery } from 'kysely';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { SqlType } from './tables/columns.ts';
import type { Tx } from './transaction.ts';

const special = /[\\\n\r\t]/;
const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const escape = (text: string): string =>
  special.test(text) ? text.replace(/[\\\n\r\t]/g, (one) => escapes[one] ?? one) : text;

const quote = (element: string) => `"${element.replace(/["\\]/g, '\\$&')}"`;

/** A value in COPY's text format. */
function copyValue(type: SqlType, value: unknown): string {
  if (value === null || value === undefined) return '\\N';
  if (type === 'json' || type === 'jsonb') return escape(JSON.stringify(value));
  if (Array.isArray(value)) return escape(`{${(value as string[]).map(quote).join()}}`);
  return escape(typeof value === 'string' ? value : `${value as number | boolean}`);
}

type Columns = readonly (readonly [name: string, type: SqlType])[];

export const copyLine = (columns: Columns, row: Readonly<Record<string, unknown>>): string =>
  `${columns.map(([name, type]) => copyValue(type, row[name])).join('\t')}\n`;

export async function copyLines(
  db: Tx,
  table: string,
  columns: Columns,
  lines: readonly string[],
): Promise<void> {
  const text = lines.join('');
  if (text === '') return;
  const names = columns.map(([name]) => name).join(', ');
  await db.executeQuery(CompiledQuery.raw(`copy ${table} (${names}) from stdin`, [text]));
}

export const isCopy = (statement: string): boolean => /^\s*copy\b/.test(statement);

/** Runs `copy … from stdin` with these lines. */
export async function copyIn(
  client: pg.ClientBase,
  statement: string,
  lines: string,
): Promise<pg.QueryResult> {
  const stream = client.query(copyFrom(statement));
  stream.end(lines);
  await once(stream, 'finish');
  return { command: 'COPY', rowCount: stream.rowCount, oid: 0, rows: [], fields: [] };
}
