// What the client accepts and answers, derived from the contract's types and from nothing else.
import type { FetchOptions, FetchResponse } from 'openapi-fetch';
import type { components, paths } from '../generated/types.ts';
import type { operations } from '../generated/operations.ts';

export type Schemas = components['schemas'];

type PathWith<Method extends 'get' | 'post'> = {
  [Path in keyof paths]: paths[Path] extends Record<Method, object> ? Path : never;
}[keyof paths];

/** Not generic, as it is in openapi-fetch: so the compiler refuses a misspelt filter or property instead of taking it along. */
type CallOptions<Operation> = Omit<FetchOptions<Operation>, 'parseAs' | 'fetch' | 'baseUrl'>;

type CallArguments<Operation> =
  Partial<CallOptions<Operation>> extends CallOptions<Operation>
    ? [options?: CallOptions<Operation>]
    : [options: CallOptions<Operation>];

type Call<Method extends 'get' | 'post'> = <Path extends PathWith<Method>>(
  path: Path,
  ...options: CallArguments<paths[Path][Method]>
) => Promise<FetchResponse<paths[Path][Method] & object, object, 'application/json'>>;

interface Pages {
  items: unknown[];
  next_cursor: string | null;
  previous_cursor: string | null;
}

interface ListOperation {
  responses: { 200: { content: { 'application/json': Pages } } };
}

/** The paths whose lists come in pages. */
export type ListPath = {
  [Path in keyof paths]: paths[Path] extends { get: ListOperation } ? Path : never;
}[keyof paths];

type ListAt<Path extends ListPath> = paths[Path]['get'];

/** A page, as the service answers it: items newest first, and the cursors of its neighbours. */
export type Page<Path extends ListPath> = ListAt<Path>['responses'][200]['content']['application/json'];
export type Item<Path extends ListPath> = Page<Path>['items'][number];
type ListQuery<Path extends ListPath> = NonNullable<ListAt<Path>['parameters']['query']>;

interface Walk {
  /** Stops the walk, also while it waits or between two items; it then throws the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Instead of the client's own. */
  merchantAccount?: string | undefined;
}

/** From the newest page, or from `query.cursor`, to older items. */
interface Onwards<Path extends ListPath> extends Walk {
  direction?: 'next' | undefined;
  query?: ListQuery<Path> | undefined;
}

/** From the page that `query.cursor` names to newer items. */
interface Back<Path extends ListPath> extends Walk {
  direction: 'previous';
  query: ListQuery<Path> & { cursor: string };
}

export type WalkOptions<Path extends ListPath> = Onwards<Path> | Back<Path>;

export interface PaymentsClient {
  GET: Call<'get'>;
  POST: Call<'post'>;
  /**
   * Every item of a list, page after page, each in the order of the walk: newest first, or with
   * `direction: 'previous'` oldest first. Throws a PaymentsError when a page is refused.
   */
  paginate: <Path extends ListPath>(
    path: Path,
    options?: WalkOptions<Path>,
  ) => AsyncGenerator<Item<Path>, undefined>;
  /** The same page by page, for those who keep a cursor to go on from. */
  pages: <Path extends ListPath>(
    path: Path,
    options?: WalkOptions<Path>,
  ) => AsyncGenerator<Page<Path>, undefined>;
}

/** What a token may be for: the scopes of the contract's operations, and those that stand for all of them. */
export type Scope = (typeof operations)[keyof typeof operations]['scopes'][number] | '*.read' | '*.write';
