// One pagination for every list: keyset on (created_at, id), newest first, never OFFSET. A page is one index range scan,
// and whether there is more on the other side is one look at the same index.
import { sql, type ExpressionBuilder, type SelectQueryBuilder, type SqlBool, type Expression } from 'kysely';
import type { Cursor, Position } from '../domain/cursor.ts';
import type { Tables } from './schema.ts';

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

export async function fetchPage<Table extends keyof Tables, Row extends Keyed>(
  query: Query<Table, Row>,
  table: Table,
  { limit, cursor }: { limit: number; cursor: Cursor | undefined },
): Promise<Page<Row>> {
  const backwards = cursor?.direction === 'previous';
  const ordered = order(beside(query, table, cursor, backwards ? 'newer' : 'older'), table, backwards);
  const found = (await ordered.limit(limit + 1).execute()) as Row[];
  const rows = found.slice(0, limit);
  if (backwards) rows.reverse();
  const first = rows[0] ?? cursor;
  const last = rows.at(-1) ?? cursor;
  const more = found.length > limit;
  // On the side that the caller came from there are rows, unless they were deleted since.
  const behind = async (from: Row | Cursor | undefined, side: 'newer' | 'older') =>
    cursor && from ? (await beside(query, table, position(from), side).limit(1).execute()).length > 0 : false;
  const hasNext = backwards ? await behind(last, 'older') : more;
  const hasPrevious = backwards ? more : await behind(first, 'newer');
  return {
    rows,
    next: hasNext && last ? position(last) : undefined,
    previous: hasPrevious && first ? position(first) : undefined,
  };
}

const position = (from: Keyed | Position): Position =>
  'created_at' in from
    ? { createdAt: from.created_at, id: from.id }
    : { createdAt: from.createdAt, id: from.id };

function beside<Table extends keyof Tables, Row>(
  query: Query<Table, Row>,
  table: Table,
  at: Position | undefined,
  side: 'newer' | 'older',
): Query<Table, Row> {
  if (!at) return query;
  const key = sql`(${sql.ref(`${table}.created_at`)}, ${sql.ref(`${table}.id`)})`;
  const bound = sql`(${at.createdAt}::timestamptz, ${at.id}::uuid)`;
  const comparison: Expression<SqlBool> = side === 'newer' ? sql`${key} > ${bound}` : sql`${key} < ${bound}`;
  return query.where((_: ExpressionBuilder<Tables, Table>) => comparison);
}

function order<Table extends keyof Tables, Row>(
  query: Query<Table, Row>,
  table: Table,
  ascending: boolean,
): Query<Table, Row> {
  const direction = ascending ? 'asc' : 'desc';
  return query.orderBy(sql.ref(`${table}.created_at`), direction).orderBy(sql.ref(`${table}.id`), direction);
}
