// Pagination. Cursors are opaque: each request passes on the cursor of the previous page.
import { createRepeatError } from './errors.ts';
import type { Item, ListPath, Page } from './types.ts';

export type FetchPage = <Path extends ListPath>(path: Path, init: object) => Promise<Page<Path>>;

/** What is common to the options of all lists. */
export interface Walk {
  direction?: 'next' | 'previous' | undefined;
  signal?: AbortSignal | null | undefined;
  params?: { query?: { cursor?: string | null } };
}

export async function* pages<Path extends ListPath>(
  fetchPage: FetchPage,
  path: Path,
  options: Walk = {},
): AsyncGenerator<Page<Path>, undefined> {
  const { direction = 'next', ...init } = options;
  const { params } = init;
  let cursor = params?.query?.cursor ?? null;
  if (direction === 'previous' && cursor === null)
    throw new TypeError("`direction: 'previous'` needs a `params.query.cursor` to start from.");
  const seen = new Set([cursor]);
  do {
    const query = { ...params?.query, cursor };
    const page = await fetchPage(path, { ...init, params: { ...params, query } });
    yield page;
    cursor = direction === 'next' ? page.next_cursor : page.previous_cursor;
    // Such as from a cache that ignores the query. The loop would never end.
    if (cursor !== null && seen.size === seen.add(cursor).size) throw createRepeatError(path);
  } while (cursor !== null);
}

export async function* paginate<Path extends ListPath>(
  fetchPage: FetchPage,
  path: Path,
  options: Walk = {},
): AsyncGenerator<Item<Path>, undefined> {
  for await (const { items } of pages(fetchPage, path, options)) {
    // Pages are sorted newest first; going back, reverse each page so that the whole iteration is oldest first.
    for (const item of options.direction === 'previous' ? items.toReversed() : items) {
      options.signal?.throwIfAborted();
      yield item;
    }
  }
}
