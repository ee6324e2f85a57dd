// Lists, page after page. A cursor is opaque: the walk only hands on what the service gave.
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
    throw new TypeError('The way back needs a cursor to begin at.');
  do {
    signal?.throwIfAborted();
    const page = await withSignal(signal, (own) =>
      fetchPage(path, { ...query, cursor }, { ...options, signal: own }),
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
    // On the way back the newest of a page comes last, so that items never jump.
    for (const item of options.direction === 'previous' ? items.toReversed() : items) {
      options.signal?.throwIfAborted();
      yield item;
    }
  }
}

/** A signal for one call. In Node.js a request holds on to its signal for long, and a walk may make thousands of them. */
async function withSignal<T>(
  signal: AbortSignal | undefined,
  call: (own: AbortSignal | undefined) => Promise<T>,
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
