// The types of the client's arguments and results, all derived from the contract.
import type { Client, FetchOptions, Middleware } from 'openapi-fetch';
import type { AnswerSchemas, Answers, EventPayloads, LaterValue } from '../generated/answers.ts';
import type { EventName, operations } from '../generated/operations.ts';
import type { components, paths } from '../generated/types.ts';
import type { PaymentsError } from './errors.ts';

/**
 * A type in which every enumeration also allows values that a later version of the service may add, as answers do. Filters allow
 * them, too, so that a value that was read can be one. A single value, such as `type`, stays as it is and tells variants apart.
 */
type Open<T> = OpenText<Extract<T, string>> | OpenOther<Exclude<T, string>>;
type OpenText<T extends string> = [T] extends [never]
  ? never
  : string extends T
    ? T
    : IsUnion<T> extends true
      ? T | LaterValue
      : T;
type OpenOther<T> = T extends readonly (infer Entry)[]
  ? Open<Entry>[]
  : T extends object
    ? { [Key in keyof T]: Open<T[Key]> | Absent<T, Key> }
    : T;
/** What is optional may also be undefined, as `{ search: maybe }` is with `exactOptionalPropertyTypes`. It is not sent. */
type Absent<T, Key extends keyof T> = string extends Key
  ? never
  : T extends Record<Key, unknown>
    ? never
    : undefined;
type Lenient<T> = T extends readonly (infer Entry)[]
  ? Lenient<Entry>[]
  : T extends object
    ? { [Key in keyof T]: Lenient<T[Key]> | Absent<T, Key> }
    : T;
type IsUnion<T, All = T> = T extends unknown ? ([All] extends [T] ? false : true) : never;
/** The schemas of the contract by name. Those of answers are also exported, with the names that an editor shows. */
export type Schemas = {
  [Name in keyof components['schemas']]: Name extends keyof AnswerSchemas
    ? AnswerSchemas[Name]
    : Name extends `${string}${'Create' | 'Update' | 'Replace' | 'Request'}`
      ? Lenient<components['schemas'][Name]>
      : Open<components['schemas'][Name]>;
};

export type EventPayload<Name extends EventName> = EventPayloads[Name];

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** With `keyof`, the compiler's message about a wrong path lists the paths, and not the name of this type. */
type PathWith<M extends Method> = keyof {
  [Path in keyof paths as paths[Path] extends Record<M, object> ? Path : never]: unknown;
};

type OperationAt<Path extends keyof paths, M extends Method> = (paths[Path] & Record<M, unknown>)[M];

type UsedMethod = { [M in Method]: [PathWith<M>] extends [never] ? never : M }[Method];

/** openapi-fetch makes the options generic, which turns off excess property checks; this way a misspelt filter is an error. */
type CallOptions<Path extends keyof paths, M extends Method> = {
  [Key in keyof AllOptions<Path, M> as Exclude<Key, 'parseAs' | 'redirect' | 'fetch' | 'baseUrl'>]:
    AllOptions<Path, M>[Key] | Absent<AllOptions<Path, M>, Key>;
};
type AllOptions<Path extends keyof paths, M extends Method> = FetchOptions<Asked<OperationAt<Path, M>>>;
type Asked<Operation> = {
  [Key in keyof Operation as Exclude<Key, 'responses'>]: Key extends 'parameters'
    ? Open<Operation[Key]>
    : Key extends 'requestBody'
      ? Lenient<Operation[Key]>
      : Operation[Key];
};

type CallArguments<Path extends keyof paths, M extends Method> =
  Partial<CallOptions<Path, M>> extends CallOptions<Path, M>
    ? [options?: CallOptions<Path, M>]
    : [options: CallOptions<Path, M>];

type DataOf<Path extends string, M extends Method> = Answers[`${Uppercase<M>} ${Path}` & keyof Answers];

/** Either `data` or `error`. Without a response, the status of `response` is 0. */
export type Result<Data> =
  | { data: Data; error?: never; response: Response }
  | { data?: never; error: PaymentsError; response: Response };

type Call<M extends Method> = <Path extends PathWith<M>>(
  path: Path,
  ...options: CallArguments<Path, M>
) => Promise<Result<DataOf<Path, M>>>;

/** One function per method that the contract uses: `GET`, `POST` … */
export type Calls = { [M in UsedMethod as Uppercase<M>]: Call<M> };

interface Pages {
  items: unknown[];
  limit: number;
  next_cursor: string | null;
  previous_cursor: string | null;
}

interface ListOperation {
  responses: { 200: { content: { 'application/json': Pages } } };
}

/** The paths of paginated lists. */
export type ListPath = keyof {
  [Path in keyof paths as paths[Path] extends { get: ListOperation } ? Path : never]: unknown;
};

type ListAt<Path extends ListPath> = paths[Path]['get'];

export type Item<Path extends ListPath> = DataOf<Path, 'get'> extends { items: (infer One)[] } ? One : never;
/** The filters, cursor and limit of a list. */
export type Query<Path extends ListPath> = Open<NonNullable<ListAt<Path>['parameters']['query']>>;

/** One page: its items, newest first, and the cursors of the next and the previous page. */
export interface Page<Path extends ListPath> extends Pages {
  items: Item<Path>[];
}

/** From the newest page, or from `params.query.cursor`, to older items. */
type ForwardOptions<Path extends ListPath> = CallOptions<Path, 'get'> & { direction?: 'next' | undefined };

/** From `params.query.cursor` to newer items. */
type BackwardOptions<Path extends ListPath> = CallOptions<Path, 'get'> & {
  direction: 'previous';
  params: { query: { cursor: string } };
};

/** The options of `GET`, and the direction. */
export type WalkOptions<Path extends ListPath> = ForwardOptions<Path> | BackwardOptions<Path>;

export interface PaymentsClient extends Calls {
  /** Adds middleware of openapi-fetch. It runs once per call, around all attempts, and does not see the token. */
  use: (...middleware: Middleware[]) => void;
  /**
   * Iterates over the items of all pages: newest first, or with `direction: 'previous'` oldest first. Takes the options of
   * `GET`. Throws a PaymentsError if a request fails.
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

/** For libraries around openapi-fetch, such as openapi-react-query: `createClient(client as unknown as FetchClient)`. */
export type FetchClient = Client<{
  [Path in keyof paths]: {
    [M in Method as Path extends PathWith<M> ? M : never]: Asked<OperationAt<Path, M>> & {
      responses: { 200: Content<DataOf<Path, M>>; default: Content<PaymentsError> };
    };
  };
}>;
interface Content<Body> {
  content: { 'application/json': Body };
}

/** The scopes of the contract's operations, and the wildcards for all of them. */
export type Scope = (typeof operations)[keyof typeof operations]['scopes'][number] | '*.read' | '*.write';
