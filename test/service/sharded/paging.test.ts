// Paging stays exact while rows are inserted. The results from a real database are compared with an oracle that sorts all
// rows in memory. Many rows have the same timestamp.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../server/kit/database/database.ts';
import { fetchPage, type Page } from '../../../server/kit/database/paging.ts';
import type { Cursor } from '../../../server/kit/rules/cursor.ts';
import { createTestDatabase, openTestDatabase } from '../../support/database.ts';
import { runs } from '../../support/random.ts';

const start = Date.parse('2026-11-15T10:30:00.000Z');

interface Row {
  id: string;
  created_at: Date;
}

let database: Database;
/** Writes while other connections read. */
let writer: pg.Client;
beforeAll(async () => {
  const url = await createTestDatabase();
  database = openTestDatabase(url);
  writer = new pg.Client({ connectionString: url });
  await writer.connect();
  // Without an index: an index scan would return the right order even if the query did not ask for it.
  await writer.query('drop index api_key_pairs_newest');
});
afterAll(async () => {
  await writer.end();
  await database.close();
});

async function insert(rows: readonly Row[]): Promise<void> {
  await writer.query(
    `insert into api_key_pairs (id, thumbprint, display_name, algorithm, public_key, created_at)
     select id, id::text, 'x', 'ECDSA', 'x', created_at from unnest($1::uuid[], $2::timestamptz[]) as t (id, created_at)`,
    [rows.map(({ id }) => id), rows.map(({ created_at }) => created_at.toISOString())],
  );
}

const fetch = (limit: number, cursor?: Cursor): Promise<Page<Row>> =>
  fetchPage(database.db.selectFrom('api_key_pairs').select(['id', 'created_at']), 'api_key_pairs', {
    limit,
    cursor,
  });

const newestFirst = (rows: readonly Row[]): Row[] =>
  [...rows].sort(
    (a, b) => b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0),
  );

const isNewer = (row: Row, { createdAt, id }: { createdAt: Date; id: string }) =>
  row.created_at.getTime() > createdAt.getTime() ||
  (row.created_at.getTime() === createdAt.getTime() && row.id > id);

/** What the list looks like around the expected page: the page, and all rows before and after it. */
function expectedList(all: readonly Row[], limit: number, cursor: Cursor | undefined) {
  const sorted = newestFirst(all);
  const newer = cursor ? sorted.filter((row) => isNewer(row, cursor)).length : 0;
  const at = cursor && sorted.some(({ id }) => id === cursor.id) ? 1 : 0;
  const isBackwards = cursor?.direction === 'previous';
  const from = isBackwards ? Math.max(newer - limit, 0) : newer + at;
  const to = isBackwards ? newer : from + limit;
  return { before: sorted.slice(0, from), rows: sorted.slice(from, to), after: sorted.slice(to) };
}

/** The same, as the page tells it. Its cursors are judged by the rows that they lead to. */
function toldList(all: readonly Row[], { rows, next, previous }: Page<Row>) {
  const sorted = newestFirst(all);
  return {
    before: previous ? sorted.filter((row) => isNewer(row, previous)) : [],
    rows,
    after: next ? sorted.filter((row) => !isNewer(row, next) && row.id !== next.id) : [],
  };
}

// Few different timestamps for many rows, so that most rows share theirs.
const rowsWithin = (from: number, to: number, constraints: { minLength: number; maxLength: number }) =>
  fc.array(
    fc.record({
      id: fc.uuid(),
      created_at: fc.integer({ min: from, max: to }).map((offset) => new Date(start + offset)),
    }),
    constraints,
  );

const unique = (rows: readonly Row[]) => [...new Map(rows.map((row) => [row.id, row])).values()];

async function fill(rows: readonly Row[]): Promise<Row[]> {
  await writer.query('delete from api_key_pairs');
  const first = unique(rows);
  await insert(first);
  return first;
}

const limit = fc.integer({ min: 1, max: 9 });
const initial = rowsWithin(0, 6, { minLength: 0, maxLength: 40 });

describe(`pages`, () => {
  type Leaving = [number, number] | 'before' | 'after';
  const step = fc.record({
    limit,
    turn: fc.constantFrom('next', 'next', 'previous', 'first'),
    // Newer than all rows, with the same timestamps, and older than all rows.
    arriving: rowsWithin(-2, 12, { minLength: 0, maxLength: 3 }),
    /** How many of the newest, and of the oldest, are deleted; or all that come before or after the page. */
    leaving: fc.constantFrom<Leaving>([0, 0], [0, 0], [1, 0], [0, 1], [30, 0], [0, 30], 'before', 'after'),
  });

  it('match the oracle with any limits and changes of direction, while rows are inserted and deleted', async () => {
    await fc.assert(
      fc.asyncProperty(initial, fc.array(step, { minLength: 1, maxLength: 12 }), async (rows, steps) => {
        let all = await fill(rows);
        let page: Page<Row> | undefined;
        for (const { limit: size, turn, arriving, leaving } of steps) {
          const from = turn === 'first' ? undefined : page?.[turn];
          const cursor = from && turn !== 'first' ? { ...from, direction: turn } : undefined;
          page = await fetch(size, cursor);
          expect(toldList(all, page)).toEqual(expectedList(all, size, cursor));
          for (const side of ['before', 'after'] as const)
            expect(page[side === 'before' ? 'previous' : 'next'] !== undefined).toBe(
              expectedList(all, size, cursor)[side].length > 0,
            );
          const fresh = unique(arriving).filter(({ id }) => !all.some((row) => row.id === id));
          await insert(fresh);
          const sorted = newestFirst([...all, ...fresh]);
          const ids = new Set(page.rows.map(({ id }) => id));
          const first = sorted.findIndex(({ id }) => ids.has(id));
          const last = sorted.findLastIndex(({ id }) => ids.has(id));
          if (leaving === 'before') all = sorted.slice(Math.max(first, 0));
          else if (leaving === 'after') all = sorted.slice(0, last === -1 ? undefined : last + 1);
          else all = sorted.slice(leaving[0], Math.max(sorted.length - leaving[1], 0));
          await writer.query('delete from api_key_pairs where id <> all ($1)', [all.map(({ id }) => id)]);
        }
      }),
      { numRuns: runs(80) },
    );
  });

  it.each(['next', 'previous'] as const)(
    'the way back from a page that has become empty skips no row (%s)',
    async (turn) => {
      const rows = newestFirst(
        await fill(
          Array.from({ length: 6 }, (_, index) => ({
            id: randomUUID(),
            created_at: new Date(start + (index % 2)),
          })),
        ),
      );
      const kept = turn === 'next' ? rows.slice(0, 3) : rows.slice(3);
      const edge = turn === 'next' ? rows[2] : rows[3];
      const cursor = { direction: turn, createdAt: edge?.created_at ?? new Date(0), id: edge?.id ?? '' };
      await writer.query('delete from api_key_pairs where id <> all ($1)', [kept.map(({ id }) => id)]);
      const empty = await fetch(3, cursor);
      expect(empty.rows).toEqual([]);
      const [back, gone] =
        turn === 'next' ? (['previous', 'next'] as const) : (['next', 'previous'] as const);
      expect(empty[gone]).toBeUndefined();
      expect((await fetch(3, empty[back] && { ...empty[back], direction: back })).rows).toEqual(kept);
    },
  );
});
