// Writes generated/operations.ts: the operation table that the server uses at run time, and the types of handlers.
import { resolve } from '../../server/contract/load.ts';
import {
  errorsOf,
  operationsOf,
  type Contract,
  type Operation,
  type Parameter,
  type Window,
} from './contract.ts';

export function operationsModule(contract: Contract): string {
  const operations = operationsOf(contract);
  const table = operations
    .map(({ path, method, operation }) => entry(contract, path, method, operation))
    .join('\n');
  const types = operations
    .map(({ path, method, operation }) => `  ${operation.operationId}: paths['${path}']['${method}'];`)
    .join('\n');
  const errors = [...errorsOf(contract)].map(
    ([code, { status, message }]) => `  ${code}: { status: ${status}, message: ${JSON.stringify(message)} },`,
  );
  const routes = operations.map(
    ({ path, method, operation }) =>
      `  '${method.toUpperCase()} ${path}': { takesKey: ${takesKey(contract, operation)}${'204' in operation.responses ? ', mayBeEmpty: true' : ''} },`,
  );
  const { examples: kinds = [] } = (contract.components.schemas?.ErrorDetailType ?? {}) as {
    examples?: string[];
  };
  const events = Object.keys(contract.webhooks).map((name) => `'${name}'`);
  return `// Written by \`npm run generate\` from openapi/. Do not edit.
import type { components, paths, webhooks } from './types.ts';

export const contractVersion = '${contract.info.version}';

export interface Limit {
  readonly limit: number;
  readonly windowSeconds: number;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  /** Alternatives: one of them is enough. */
  readonly scopes: readonly string[];
  readonly merchantScope: 'none' | 'one' | 'many';
  readonly rateLimit: ({ readonly scope: string } & Limit) | null;
  /** Of operations that store a card. */
  readonly velocityLimit: { readonly cards: Limit; readonly sameBinAndLastFour: Limit } | null;
  /** Whether it takes an Idempotency-Key, as every POST and PATCH that writes does. */
  readonly takesKey: boolean;
  readonly statuses: readonly number[];
  /** Declared because the specification lists them; they never happen here. */
  readonly reserved: readonly number[];
  /** What the server fills in when the request leaves it out. */
  readonly defaults: { readonly query: readonly string[]; readonly body: readonly string[] };
}

export const operations = {
${table}
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;

interface Route extends Pick<Operation, 'takesKey'> {
  /** Whether it may answer 204. */
  readonly mayBeEmpty?: true;
}

/** What the client needs at run time. Not read from the table above, which would make web pages larger. */
export const routes: Readonly<Record<string, Route>> = {
${routes.join('\n')}
};

interface Types {
${types}
}

/** Every error code with its status and its message, as the examples of the error responses have them. */
export const errors = {
${errors.join('\n')}
} as const satisfies Record<components['schemas']['ErrorCode'], { status: number; message: string }>;

/** The values of \`details[].type\` that the contract names. */
export type ErrorDetailType = ${kinds.map((kind) => `'${kind}'`).join(' | ') || 'never'};

export const events = [${events.join(', ')}] as const satisfies (keyof webhooks)[];
export type EventName = (typeof events)[number];
export type EventPayload<Name extends EventName> = webhooks[Name]['post']['requestBody']['content']['application/json'];

type Defaults<Id extends OperationId, Part extends 'query' | 'body'> = (typeof operations)[Id]['defaults'][Part][number];
type Filled<T, Keys> = Omit<T, Keys & keyof T> & Required<Pick<T, Keys & keyof T>>;
type Present<T> = T extends null ? never : T;

type QueryOf<Id extends OperationId> = Types[Id]['parameters'] extends { query?: infer Q } ? NonNullable<Q> : unknown;
type PathOf<Id extends OperationId> = Types[Id]['parameters'] extends { path: infer P } ? P : Record<never, never>;
type BodyOf<Id extends OperationId> = Types[Id] extends { requestBody: { content: { 'application/json': infer B } } }
  ? B
  : undefined;

/** What a handler receives: already validated, defaults filled in. A parameter is left out, never null. */
export interface Input<Id extends OperationId> {
  path: PathOf<Id>;
  query: { [Key in keyof Filled<QueryOf<Id>, Defaults<Id, 'query'>>]: Present<Filled<QueryOf<Id>, Defaults<Id, 'query'>>[Key]> };
  body: BodyOf<Id> extends undefined ? undefined : Filled<BodyOf<Id>, Defaults<Id, 'body'>>;
}

/** A value as JSON, in UTF-8. It is parsed only to be validated, so a list can send what the database wrote. */
export interface JsonBytes<Value> {
  readonly json: Uint8Array;
  /** Never there: it tells the compiler what the JSON is. */
  readonly value?: Value;
}

/** A list whose items are JSON already. */
type WithJsonItems<Body> = Body extends { items: (infer Item)[] }
  ? Omit<Body, 'items'> & { items: readonly JsonBytes<Item>[] }
  : never;

/** A response without content, such as 204, has no body. */
type Answer<Status, Response> = Response extends { content: { 'application/json': infer Body } }
  ? { status: Status; body: Body | WithJsonItems<Body>; headers?: Record<string, string> }
  : { status: Status; body?: undefined; headers?: Record<string, string> };

/** A declared status with the body that the contract gives it; anything else does not compile. */
export type Result<Id extends OperationId> = {
  [Status in keyof Types[Id]['responses'] & number]: Answer<Status, Types[Id]['responses'][Status]>;
}[keyof Types[Id]['responses'] & number];

export type Handler<Id extends OperationId, Deps = unknown> = (input: Input<Id>, deps: Deps) => Promise<Result<Id>>;

export type Handlers<Deps = unknown> = { readonly [Id in OperationId]: Handler<Id, Deps> };
`;
}

const parametersOf = (contract: Contract, operation: Operation) =>
  (operation.parameters ?? []).map((parameter) => resolve<Parameter>(contract, parameter));

const takesKey = (contract: Contract, operation: Operation): boolean =>
  parametersOf(contract, operation).some((one) => one.in === 'header' && one.name === 'Idempotency-Key');
const windowOf = ({ limit, window_seconds }: Window) => `limit: ${limit}, windowSeconds: ${window_seconds}`;

function entry(contract: Contract, path: string, method: string, operation: Operation): string {
  const quoted = (words: string[]) => `[${words.map((word) => `'${word}'`).join(', ')}]`;
  const scopes = operation.security.flatMap((alternative) => Object.values(alternative).flat());
  const limit = operation['x-rate-limit'];
  const rateLimit = limit ? `{ scope: '${limit.scope}', ${windowOf(limit)} }` : 'null';
  const velocity = operation['x-velocity-limit'];
  const velocityLimit = velocity
    ? `{ cards: { ${windowOf(velocity.cards)} }, sameBinAndLastFour: { ${windowOf(velocity.same_bin_and_last_four)} } }`
    : 'null';
  const query = parametersOf(contract, operation)
    .filter((parameter) => parameter.in === 'query' && parameter.schema.default !== undefined)
    .map((parameter) => parameter.name);
  const statuses = Object.keys(operation.responses);
  return `  ${operation.operationId}: {
    id: '${operation.operationId}',
    method: '${method}',
    path: '${path}',
    summary: '${operation.summary.replaceAll(/[\\']/g, '\\$&')}',
    scopes: ${quoted(scopes)},
    merchantScope: '${operation['x-merchant-scope']}',
    rateLimit: ${rateLimit},
    velocityLimit: ${velocityLimit},
    takesKey: ${takesKey(contract, operation)},
    statuses: [${statuses.join(', ')}],
    reserved: [${Object.keys(operation['x-reserved'] ?? {}).join(', ')}],
    defaults: { query: ${quoted(query)}, body: ${quoted(bodyDefaults(contract, operation))} },
  },`;
}

function bodyDefaults(contract: Contract, operation: Operation): string[] {
  const body = operation.requestBody;
  if (!body) return [];
  const { properties = {} } = resolve(contract, body.content['application/json'].schema);
  return Object.entries(properties)
    .filter(([, property]) => 'default' in property)
    .map(([name]) => name);
}
