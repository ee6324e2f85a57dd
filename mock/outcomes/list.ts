// Lists: all items of the contract's examples, filtered and paged like the server's lists. The cursors in the examples work
// too.
import { ApiError, type Unprocessable } from '../../server/kit/errors.ts';
import { foreignCursor, givenCursor } from '../../server/kit/rules/cursor.ts';
import { notAfter } from '../../server/kit/rules/values.ts';
import { successExamples, type MockOperation } from '../operations.ts';
import { bindingOf, decodeCursor, encodeCursor, type Cursor } from './cursors.ts';
import type { MockRequest, Outcome } from './outcome.ts';

interface Item extends Record<string, unknown> {
  id: string;
  created_at?: string;
}

interface Page {
  items: Item[];
  limit: number;
  next_cursor: string | null;
  previous_cursor: string | null;
}

export const isList = (operation: MockOperation): boolean => {
  const value = successExamples(operation)[0]?.value;
  return typeof value === 'object' && value !== null && 'items' in value && 'next_cursor' in value;
};

const pagesOf = (operation: MockOperation) => successExamples(operation).map(({ value }) => value as Page);

export type ApplyFilters = (items: readonly object[], query: MockRequest['query']) => object[];

const keepAll: ApplyFilters = (items) => [...items];

interface Filtered {
  faults?: readonly Unprocessable[];
  spell?: (name: string, value: unknown) => unknown;
}

export const list = (
  request: MockRequest,
  applyFilters: ApplyFilters = keepAll,
  { faults = [], spell = (_name, value) => value }: Filtered = {},
): Outcome => {
  const { operation, query } = request;
  const limit = Number(query.limit);
  const binding = bindingOf(request, spell);
  const items = applyFilters(itemsOf(request), query) as Item[];
  const given = typeof query.cursor === 'string' ? givenCursor(query.cursor) : undefined;
  const cursor =
    given === undefined ? undefined : (exampleCursor(operation, given) ?? decodeCursor(given, binding));
  const index = items.findIndex(({ id }) => id === cursor?.id);
  const detail = given !== undefined && index === -1 ? [foreignCursor, ...faults] : [...faults];
  if (detail.length > 0) throw new ApiError('unprocessable', { detail });
  const [from, to] = range(cursor, index, limit);
  const page = items.slice(from, to);
  const cursorAt = (direction: Cursor['direction'], item: Item | undefined, hasMore: boolean) =>
    hasMore && item ? encodeCursor({ direction, id: item.id }, binding) : null;
  return {
    status: operation.successStatus,
    why: `${page.length} of ${items.length} items, from the contract's examples`,
    fillExample: (example) => ({
      ...(example as Page),
      items: page,
      limit,
      next_cursor: cursorAt('next', page.at(-1), to < items.length),
      previous_cursor: cursorAt('previous', page[0], from > 0),
    }),
  };
};

function range(cursor: Cursor | undefined, index: number, limit: number): [from: number, to: number] {
  if (cursor?.direction === 'previous') return [Math.max(0, index - limit), index];
  const from = cursor ? index + 1 : 0;
  return [from, from + limit];
}

const isRecord = (item: unknown) => typeof item === 'object' && item !== null && 'id' in item;

const sorted = new WeakMap<MockOperation, Item[]>();

/** All items of the examples, newest first. */
function allItems(operation: MockOperation): Item[] {
  const known = sorted.get(operation);
  if (known) return known;
  const all = pagesOf(operation).flatMap(({ items }) => items);
  // Pages of records overlap. What has no ID, such as a list of texts, is served as it is.
  const distinct = all.every(isRecord) ? [...new Map(all.map((item) => [item.id, item])).values()] : all;
  if (distinct !== all) distinct.sort((a, b) => timeOf(b) - timeOf(a) || (a.id < b.id ? 1 : -1));
  sorted.set(operation, distinct);
  return distinct;
}

function itemsOf({ operation, account }: MockRequest): readonly Item[] {
  const distinct = allItems(operation);
  if (account.kind !== 'one') return distinct;
  // Every account has the same items, with its own ID in them.
  return distinct.map((item) =>
    isRecord(item) && 'merchant_account_id' in item ? { ...item, merchant_account_id: account.id } : item,
  );
}

const timeOf = ({ created_at }: Item) => (created_at === undefined ? 0 : notAfter(created_at).getTime());

/** Decodes a cursor from one of the contract's examples: it continues that example's page. */
function exampleCursor(operation: MockOperation, text: string): Cursor | undefined {
  for (const { items, next_cursor, previous_cursor } of pagesOf(operation)) {
    const [first, last] = [items[0], items.at(-1)];
    if (text === next_cursor && last) return { direction: 'next', id: last.id };
    if (text === previous_cursor && first) return { direction: 'previous', id: first.id };
  }
  return undefined;
}
