// Pagination. Cursors are opaque: each request passes on the cursor of the previous page.
import type { Item, ListPath, Page, WalkOptions } from './types.ts';

export type FetchPage = <Path extends ListPath>(
  path: Path,
  query: object,
  options: Pick<WalkOptions<Path>, 'signal' | 'merchantAccount'>,
) => Promise<Page<Path>>;

export async function* pages<Path extends ListPath>(
  fetchPage: FetchPage,
  path: Path,
  options: WalkOptions<Path> = {},
): AsyncGenerator<Page<Path>, undefined> {
  const { direction = 'next', query, signal } = options;
  let cursor = query?.cursor ?? null;
  if (direction === 'previous' && cursor === null)
    throw new TypeError("`direction: 'previous'` needs a `query.cursor` to start from.");
  do {
    signal?.throwIfAborted();
    const page = await withSignal(signal, (pageSignal) =>
      fetchPage(path, { ...query, cursor }, { ...options, signal: pageSignal }),
    );
    yield page;
    cursor = direction === 'next' ? page.next_cursor : page.previous_cursor;
  } while (cursor !== null);
}

export async function* paginate<Path extends ListPath>(
  fetchPage: FetchPage,
  path: Path,
  options: WalkOptions<Path> = {},
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
  signal: AbortSignal | undefined,
  call: (pageSignal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (!signal) return call(undefined);
  const controller = new AbortController();
  const abort = () => {
    controller.abort(signal.reason);
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await call(controller.signal);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
