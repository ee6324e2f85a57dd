// What some statements need of PostgreSQL's protocol beyond pg: columns as bytes, and COPY.
import { once } from 'node:events';
import { CompiledQuery } from 'kysely';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { Parser } from 'pg-protocol/dist/parser.js';
import { timestamp, type SqlType } from './columns.ts';
import { run, type Execution } from './execution.ts';
import type { Tx } from './unit-of-work.ts';

// pg makes a string of every column, but a list needs the bytes of its items: to look up whether they are valid, and to send them. Both
// conversions take a tenth of the time of a page. pg can ask PostgreSQL for the binary format, which for texts is their UTF-8, but cannot
// read it yet.

/** Sends a statement to a client of pg. */
export type SendStatement = (
  text: string,
  values?: readonly unknown[],
  execution?: Execution,
) => Promise<pg.QueryResult>;

/** pg knows more than its types say. Only the extended protocol has a binary format. */
interface Config extends pg.QueryConfig {
  binary?: true;
  queryMode?: 'extended';
}

/** For pg. With a name, PostgreSQL keeps the statement: see named-statements.ts. */
export function configOf(
  text: string,
  values: readonly unknown[] | undefined,
  { asBytes = false }: Execution,
  name?: string,
): Config {
  return {
    text,
    ...(values && { values: values as unknown[] }),
    ...(name !== undefined && { name }),
    ...(asBytes && { binary: true, queryMode: 'extended' }),
  };
}

export const sendWithoutName =
  (client: pg.ClientBase): SendStatement =>
  (text, values, execution = {}) =>
    client.query(configOf(text, values, execution));

const { builtins } = pg.types;
const microsecondsAt2000 = 946_684_800_000_000n;

/** Such statements have columns of these types only. */
export function readBytes(types: pg.TypeOverrides): void {
  types.setTypeParser(builtins.TEXT, 'binary', (bytes: Buffer) => bytes);
  types.setTypeParser(builtins.UUID, 'binary', (bytes: Buffer) => {
    const hex = bytes.toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  });
  types.setTypeParser(
    builtins.TIMESTAMPTZ,
    'binary',
    (bytes: Buffer) => new Date(Number((bytes.readBigInt64BE() + microsecondsAt2000) / 1000n)),
  );
  types.setTypeParser(builtins.BOOL, 'binary', (bytes: Buffer) => bytes[0] === 1);
}

interface Message {
  name: string;
  fields: unknown[];
}

/** pg-protocol declares it private. */
interface Packets {
  handlePacket: (this: Packets, offset: number, code: number, length: number, bytes: Buffer) => Message;
  isBinary?: boolean;
}

const parsers = Parser.prototype as unknown as Packets;
const { handlePacket } = parsers;
const dataRow = 'D'.charCodeAt(0);

parsers.handlePacket = function (offset, code, length, bytes) {
  if (code === dataRow && this.isBinary) return rowOf(offset, bytes);
  const message = handlePacket.call(this, offset, code, length, bytes);
  if (message.name === 'rowDescription')
    this.isBinary = (message.fields as { format: string }[])[0]?.format === 'binary';
  return message;
};

/** The number of columns, then for each its length, negative for null, and its bytes. */
function rowOf(start: number, bytes: Buffer): Message {
  const fields: (Buffer | null)[] = [];
  let offset = start + 2;
  for (let count = bytes.readInt16BE(start); count > 0; count -= 1) {
    const length = bytes.readInt32BE(offset);
    offset += 4;
    fields.push(length < 0 ? null : bytes.subarray(offset, offset + length));
    offset += Math.max(length, 0);
  }
  return { name: 'dataRow', fields };
}

// COPY is the fastest way to write very many rows: PostgreSQL puts them into the table page by page. It knows no `on conflict`,
// so the rows must be new.

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
  await run(db, CompiledQuery.raw(`copy ${table} (${names}) from stdin`), { copied: rows.join('') });
}

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
