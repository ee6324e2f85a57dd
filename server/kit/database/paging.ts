// Pagination of every list: keyset on (created_at, id), newest first, without OFFSET. A page is one index range scan; one more
// index lookup tells whether there are rows in the other direction.
import { sql, type SelectQueryBuilder, type SqlBool, type Expression } from 'kysely';
import { justNewer, justOlder, type Cursor, type Position } from '../rules/cursor.ts';
import { timestamp } from './columns.ts';
import type { Tables } from './tables.ts';

export interface Page<Row> {
  rows: Row[];
  next: Position | undefined;
  previous: Position | undefined;
}

interface Keyed {
  id: string;
  created_at: Date;
}

type Query<Table extends keyof Tables, Row> = SelectQueryBuilder<Tables, Table, Row>;

export interface Range {
  at: Position | undefined;
  side: 'newer' | 'older';
  limit: number;
}

export interface PageRequest {
  limit: number;
  cursor: Cursor | undefined;
}

export const fetchPage = <Table extends keyof Tables, Row extends Keyed>(
  query: Query<Table, Row>,
  table: Table,
  page: PageRequest,
): Promise<Page<Row>> =>
  pageThrough(async ({ at, side, limit }) => {
    const ordered = order(beyondCursor(query, table, at, side), table, side === 'newer');
    return await ordered.limit(limit).execute();
  }, page);

/** Each row may say whether there are rows in the range `behind` the page. */
type Read<Row> = (range: Range, behind?: Range) => Promise<(Row & { hasBehind?: boolean })[]>;

/** For lists that build their own query. */
export async function pageThrough<Row extends Keyed>(
  read: Read<Row>,
  { limit, cursor }: PageRequest,
): Promise<Page<Row>> {
  const backwards = cursor?.direction === 'previous';
  // In the direction that the caller came from: the row of the cursor, and what lies beyond it. They may have been deleted since.
  const behind: Range | undefined = cursor && {
    at: backwards ? justNewer(cursor) : justOlder(cursor),
    side: backwards ? 'older' : 'newer',
    limit: 1,
  };
  const range: Range = { at: cursor, side: backwards ? 'newer' : 'older', limit: limit + 1 };
  const found = await read(range, behind);
  const rows = found.slice(0, limit);
  if (backwards) rows.reverse();
  const more = found.length > limit;
  // An empty page lies directly beside the row of its cursor, so the way back starts with that row.
  const first = positionOf(rows[0]) ?? (cursor && justOlder(cursor));
  const last = positionOf(rows.at(-1)) ?? (cursor && justNewer(cursor));
  const hasBehind = behind ? (found[0]?.hasBehind ?? (await read(behind)).length > 0) : false;
  const hasNext = backwards ? hasBehind : more;
  const hasPrevious = backwards ? more : hasBehind;
  return { rows, next: hasNext ? last : undefined, previous: hasPrevious ? first : undefined };
}

const positionOf = (row: Keyed | undefined): Position | undefined =>
  row && { createdAt: row.created_at, id: row.id };

function beyondCursor<Table extends keyof Tables, Row>(
  query: Query<Table, Row>,
  table: Table,
  at: Position | undefined,
  side: 'newer' | 'older',
): Query<Table, Row> {
  if (!at) return query;
  const key = sql`(${sql.ref(`${table}.created_at`)}, ${sql.ref(`${table}.id`)})`;
  const bound = sql`(${timestamp(at.createdAt)}::timestamptz, ${at.id}::uuid)`;
  const comparison: Expression<SqlBool> = side === 'newer' ? sql`${key} > ${bound}` : sql`${key} < ${bound}`;
  return query.where(() => comparison);
}

function order<Table extends keyof Tables, Row>(
  query: Query<Table, Row>,
  table: Table,
  ascending: boolean,
): Query<Table, Row> {
  const direction = ascending ? 'asc' : 'desc';
  return query.orderBy(sql.ref(`${table}.created_at`), direction).orderBy(sql.ref(`${table}.id`), direction);
}
