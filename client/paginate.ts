// Pagination. Cursors are opaque: each request passes on the cursor of the previous page.
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
  const { direction = 'next', signal, ...init } = options;
  const { params } = init;
  let cursor = params?.query?.cursor ?? null;
  if (direction === 'previous' && cursor === null)
    throw new TypeError("`direction: 'previous'` needs a `params.query.cursor` to start from.");
  do {
    signal?.throwIfAborted();
    const query = { ...params?.query, cursor };
    const page = await withSignal(signal, (own) =>
      fetchPage(path, { ...init, params: { ...params, query }, ...own }),
    );
    // For JavaScript callers: the compiler knows which lists have pages. Without cursors this would never end.
    if (!('next_cursor' in page)) throw new TypeError(`${path} has no pages. Call GET.`);
    yield page;
    cursor = direction === 'next' ? page.next_cursor : page.previous_cursor;
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

/** Gives each request its own signal: in Node.js requests stay attached to a shared signal, which leaks over many pages. */
async function withSignal<T>(
  signal: AbortSignal | null | undefined,
  call: (own: { signal?: AbortSignal }) => Promise<T>,
): Promise<T> {
  if (!signal) return call({});
  const controller = new AbortController();
  const abort = () => {
    controller.abort(signal.reason);
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await call({ signal: controller.signal });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
