// Lists: all items that the contract's examples show, narrowed by the filters and paged as the server pages. The examples'
// own cursors lead on, too.
import { successes, type MockOperation } from '../operations.ts';
import { bindingOf, decodeCursor, encodeCursor, type Cursor } from './cursors.ts';
import { narrow } from './filters.ts';
import type { Asked, Choose, Outcome } from './outcome.ts';

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
  const value = successes(operation)[0]?.value;
  return typeof value === 'object' && value !== null && 'items' in value && 'next_cursor' in value;
};

const pagesOf = (operation: MockOperation) => successes(operation).map(({ value }) => value as Page);

export const list: Choose = (asked) => {
  const { operation, query } = asked;
  const limit = Number(query.limit);
  const binding = bindingOf(asked);
  const items = narrow(itemsOf(asked), query) as Item[];
  const given = typeof query.cursor === 'string' ? query.cursor : undefined;
  const cursor = given === undefined ? undefined : (known(operation, given) ?? decodeCursor(given, binding));
  const at = items.findIndex(({ id }) => id === cursor?.id);
  if (given !== undefined && at === -1) return foreign;
  const [from, to] = range(cursor, at, limit);
  const page = items.slice(from, to);
  const point = (direction: Cursor['direction'], item: Item | undefined, more: boolean) =>
    more && item ? encodeCursor({ direction, id: item.id }, binding) : null;
  return {
    status: operation.success,
    why: `${page.length} of ${items.length} items, from the contract's examples`,
    carry: (example) => ({
      ...(example as Page),
      items: page,
      limit,
      next_cursor: point('next', page.at(-1), to < items.length),
      previous_cursor: point('previous', page[0], from > 0),
    }),
  };
};

const foreign: Outcome = {
  status: 422,
  example: 'foreign_cursor',
  why: 'the cursor is not of this list, these filters and this merchant account',
};

function range(cursor: Cursor | undefined, at: number, limit: number): [from: number, to: number] {
  if (cursor?.direction === 'previous') return [Math.max(0, at - limit), at];
  const from = cursor ? at + 1 : 0;
  return [from, from + limit];
}

function itemsOf({ operation, account }: Asked): Item[] {
  const all = pagesOf(operation).flatMap(({ items }) => items);
  const distinct = [...new Map(all.map((item) => [item.id, item])).values()];
  distinct.sort((a, b) => (b.created_at ?? '').localeCompare(a.created_at ?? ''));
  if (account.kind !== 'one') return distinct;
  // Every account has the same items, under its own name.
  return distinct.map((item) =>
    'merchant_account_id' in item ? { ...item, merchant_account_id: account.id } : item,
  );
}

/** A cursor that stands in an example: it leads on from that example's page. */
function known(operation: MockOperation, text: string): Cursor | undefined {
  for (const { items, next_cursor, previous_cursor } of pagesOf(operation)) {
    const [first, last] = [items[0], items.at(-1)];
    if (text === next_cursor && last) return { direction: 'next', id: last.id };
    if (text === previous_cursor && first) return { direction: 'previous', id: first.id };
  }
  return undefined;
}
