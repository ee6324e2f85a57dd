// The types of handlers, derived from the tables in generated/: what a handler of an operation receives, and what it may answer.
import type { OperationId, operations, OperationTypes } from '../../../generated/operations.ts';

type Defaults<
  Id extends OperationId,
  Part extends 'query' | 'body',
> = (typeof operations)[Id]['defaults'][Part][number];
type Parameters<
  Id extends OperationId,
  Place extends 'path' | 'query',
> = OperationTypes[Id]['parameters'] extends { [Key in Place]?: infer Found }
  ? [NonNullable<Found>] extends [never]
    ? object
    : NonNullable<Found>
  : object;
type BodyOf<Id extends OperationId> = OperationTypes[Id] extends {
  requestBody: { content: { 'application/json': infer Body } };
}
  ? Body
  : undefined;

// As conditional types, of which an editor shows the properties and not how they were made.
type Plain<T> = T extends object ? { [Key in keyof T]: T[Key] } : never;
type PlainWithoutNull<T> = T extends object
  ? { [Key in keyof T]: T[Key] extends infer Value ? Exclude<Value, null> : never }
  : never;
type Filled<T, Keys> = Omit<T, Keys & keyof T> & Required<Pick<T, Keys & keyof T>>;

/** What a handler receives: already validated, defaults filled in. A parameter is left out, never null. */
export type Input<Id extends OperationId> = Plain<{
  path: Parameters<Id, 'path'>;
  query: PlainWithoutNull<Filled<Parameters<Id, 'query'>, Defaults<Id, 'query'>>>;
  body: BodyOf<Id> extends undefined ? undefined : Plain<Filled<BodyOf<Id>, Defaults<Id, 'body'>>>;
}>;

/** A response without content, such as 204, has no body. */
type Answer<Status, Response> = Response extends { content: { 'application/json': infer Body } }
  ? { status: Status; body: Body; headers?: Record<string, string> }
  : { status: Status; body?: undefined; headers?: Record<string, string> };
type Successes<Responses> = {
  [Status in keyof Responses as `${Status & number}` extends `2${string}` ? Status : never]: Answer<
    Status,
    Responses[Status]
  >;
};
type AnyOf<T> = T[keyof T];

/** What a handler returns: a 2xx of its operation with its body. Errors are thrown. */
export type Result<Id extends OperationId> = AnyOf<Successes<OperationTypes[Id]['responses']>>;

/** A value as JSON, in UTF-8. It is parsed only to be validated, so a list can send what the database wrote. */
export interface JsonBytes<Value> {
  readonly json: Uint8Array;
  /** Never there: it tells the compiler what the JSON is. */
  readonly value?: Value;
}

type WithJsonItems<Answer> = Answer extends { body: { items: (infer Item)[] } }
  ? Plain<
      Omit<Answer, 'body'> & {
        body: Plain<Omit<Answer['body'], 'items'> & { items: readonly JsonBytes<Item>[] }>;
      }
    >
  : never;

/** The same for a list whose items are JSON already. */
export type ResultAsJson<Id extends OperationId> = WithJsonItems<Result<Id>>;

export type Handler<Id extends OperationId, Deps = unknown> = (
  input: Input<Id>,
  deps: Deps,
) => Promise<Result<Id> | ResultAsJson<Id>>;

export type Handlers<Deps = unknown> = { readonly [Id in OperationId]: Handler<Id, Deps> };

/** What a handler returns, of any operation. */
export interface AnyAnswer {
  status: number;
  /** Undefined if the contract declares the response without content. */
  body?: unknown;
  headers?: Record<string, string>;
}
