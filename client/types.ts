// The types of the client's arguments and results, all derived from the contract.
import type { FetchOptions, FetchResponse } from 'openapi-fetch';
import type { components, paths } from '../generated/types.ts';
import type { operations } from '../generated/operations.ts';

export type Schemas = components['schemas'];

type PathWith<Method extends 'get' | 'post'> = {
  [Path in keyof paths]: paths[Path] extends Record<Method, object> ? Path : never;
}[keyof paths];

/** openapi-fetch makes the options generic, which turns off excess property checks; this way a misspelt filter is an error. */
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

/** The paths of paginated lists. */
export type ListPath = {
  [Path in keyof paths]: paths[Path] extends { get: ListOperation } ? Path : never;
}[keyof paths];

type ListAt<Path extends ListPath> = paths[Path]['get'];

/** One page: its items, newest first, and the cursors of the next and the previous page. */
export type Page<Path extends ListPath> = ListAt<Path>['responses'][200]['content']['application/json'];
export type Item<Path extends ListPath> = Page<Path>['items'][number];
type ListQuery<Path extends ListPath> = NonNullable<ListAt<Path>['parameters']['query']>;

interface CommonOptions {
  /** Stops the iteration at any point, also during a retry delay; the iteration then throws the abort reason. */
  signal?: AbortSignal | undefined;
  /** Default: the merchant account of the client. */
  merchantAccount?: string | undefined;
}

/** From the newest page, or from `query.cursor`, to older items. */
interface ForwardOptions<Path extends ListPath> extends CommonOptions {
  direction?: 'next' | undefined;
  query?: ListQuery<Path> | undefined;
}

/** From `query.cursor` to newer items. */
interface BackwardOptions<Path extends ListPath> extends CommonOptions {
  direction: 'previous';
  query: ListQuery<Path> & { cursor: string };
}

export type WalkOptions<Path extends ListPath> = ForwardOptions<Path> | BackwardOptions<Path>;

export interface PaymentsClient {
  GET: Call<'get'>;
  POST: Call<'post'>;
  /**
   * Iterates over the items of all pages: newest first, or with `direction: 'previous'` oldest first. Throws a
   * PaymentsError if a request fails.
   */
  paginate: <Path extends ListPath>(
    path: Path,
    options?: WalkOptions<Path>,
  ) => AsyncGenerator<Item<Path>, undefined>;
  /** The same page by page, for callers that store a cursor to continue from later. */
  pages: <Path extends ListPath>(
    path: Path,
    options?: WalkOptions<Path>,
  ) => AsyncGenerator<Page<Path>, undefined>;
}

/** The scopes of the contract's operations, and the wildcards for all of them. */
export type Scope = (typeof operations)[keyof typeof operations]['scopes'][number] | '*.read' | '*.write';
