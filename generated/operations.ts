// Written by `npm run generate` from openapi/. Do not edit.
import type { components, paths, webhooks } from './types.ts';

export const contractVersion = '1.2.0';

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
  listApiKeyPairs: {
    id: 'listApiKeyPairs',
    method: 'get',
    path: '/api-key-pairs',
    summary: 'List API key pairs',
    scopes: ['api-key-pairs.read'],
    merchantScope: 'none',
    rateLimit: null,
    velocityLimit: null,
    takesKey: false,
    statuses: [200, 400, 401, 403, 404, 405, 409, 422, 425, 429, 500, 502, 504],
    reserved: [404, 409, 425, 429, 502, 504],
    defaults: { query: ['limit'], body: [] },
  },
  checkGiftCardBalances: {
    id: 'checkGiftCardBalances',
    method: 'post',
    path: '/gift-cards/balances',
    summary: 'Check gift card balances',
    scopes: ['gift-cards.read', 'embed'],
    merchantScope: 'one',
    rateLimit: { scope: 'embed', limit: 50, windowSeconds: 60 },
    velocityLimit: null,
    takesKey: false,
    statuses: [200, 400, 401, 403, 404, 405, 425, 429, 500, 502, 504],
    reserved: [],
    defaults: { query: [], body: [] },
  },
  createPaymentMethod: {
    id: 'createPaymentMethod',
    method: 'post',
    path: '/payment-methods',
    summary: 'Store a card',
    scopes: ['payment-methods.write'],
    merchantScope: 'one',
    rateLimit: null,
    velocityLimit: { cards: { limit: 300, windowSeconds: 60 }, sameBinAndLastFour: { limit: 20, windowSeconds: 86400 } },
    takesKey: true,
    statuses: [201, 400, 401, 403, 404, 405, 409, 422, 425, 429, 500],
    reserved: [],
    defaults: { query: [], body: [] },
  },
  listTransactions: {
    id: 'listTransactions',
    method: 'get',
    path: '/transactions',
    summary: 'List transactions',
    scopes: ['transactions.read'],
    merchantScope: 'many',
    rateLimit: null,
    velocityLimit: null,
    takesKey: false,
    statuses: [200, 400, 401, 403, 404, 405, 422, 500],
    reserved: [],
    defaults: { query: ['limit'], body: [] },
  },
  listCardSchemeDefinitions: {
    id: 'listCardSchemeDefinitions',
    method: 'get',
    path: '/card-scheme-definitions',
    summary: 'List card schemes',
    scopes: ['card-scheme-definitions.read'],
    merchantScope: 'none',
    rateLimit: null,
    velocityLimit: null,
    takesKey: false,
    statuses: [200, 400, 401, 403, 405, 500],
    reserved: [],
    defaults: { query: [], body: [] },
  },
  createWebhookSubscription: {
    id: 'createWebhookSubscription',
    method: 'post',
    path: '/webhook-subscriptions',
    summary: 'Create a webhook subscription',
    scopes: ['webhook-subscriptions.write'],
    merchantScope: 'many',
    rateLimit: null,
    velocityLimit: null,
    takesKey: true,
    statuses: [201, 400, 401, 403, 404, 405, 422, 425, 500],
    reserved: [],
    defaults: { query: [], body: ['active'] },
  },
  listWebhookSubscriptions: {
    id: 'listWebhookSubscriptions',
    method: 'get',
    path: '/webhook-subscriptions',
    summary: 'List webhook subscriptions',
    scopes: ['webhook-subscriptions.read'],
    merchantScope: 'many',
    rateLimit: null,
    velocityLimit: null,
    takesKey: false,
    statuses: [200, 400, 401, 403, 404, 405, 422, 500],
    reserved: [],
    defaults: { query: ['limit'], body: [] },
  },
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;

interface Route extends Pick<Operation, 'takesKey'> {
  /** Whether it may answer 204. */
  readonly mayBeEmpty?: true;
}

/** What the client needs at run time. Not read from the table above, which would make web pages larger. */
export const routes: Readonly<Record<string, Route>> = {
  'GET /api-key-pairs': { takesKey: false },
  'POST /gift-cards/balances': { takesKey: false },
  'POST /payment-methods': { takesKey: true },
  'GET /transactions': { takesKey: false },
  'GET /card-scheme-definitions': { takesKey: false },
  'POST /webhook-subscriptions': { takesKey: true },
  'GET /webhook-subscriptions': { takesKey: false },
};

interface Types {
  listApiKeyPairs: paths['/api-key-pairs']['get'];
  checkGiftCardBalances: paths['/gift-cards/balances']['post'];
  createPaymentMethod: paths['/payment-methods']['post'];
  listTransactions: paths['/transactions']['get'];
  listCardSchemeDefinitions: paths['/card-scheme-definitions']['get'];
  createWebhookSubscription: paths['/webhook-subscriptions']['post'];
  listWebhookSubscriptions: paths['/webhook-subscriptions']['get'];
}

/** Every error code with its status and its message, as the examples of the error responses have them. */
export const errors = {
  bad_request: { status: 400, message: "Generic error" },
  unauthorized: { status: 401, message: "No valid API authentication found" },
  forbidden: { status: 403, message: "Generic error" },
  not_found: { status: 404, message: "The resource could not be found" },
  method_not_allowed: { status: 405, message: "Method Not Allowed" },
  duplicate_record: { status: 409, message: "Generic error" },
  too_early: { status: 425, message: "Generic error" },
  too_many_requests: { status: 429, message: "Generic error" },
  server_error: { status: 500, message: "Request could not be processed" },
  bad_gateway: { status: 502, message: "Request could not be processed" },
  gateway_timeout: { status: 504, message: "Request could not be processed" },
} as const satisfies Record<components['schemas']['ErrorCode'], { status: number; message: string }>;

/** The values of `details[].type` that the contract names. */
export type ErrorDetailType = 'value_error.body' | 'value_error.body_too_large' | 'value_error.const' | 'value_error.content_type' | 'value_error.cursor' | 'value_error.datetime' | 'value_error.duplicate' | 'value_error.enum' | 'value_error.exclusive' | 'value_error.extra' | 'value_error.idempotency_key.reused' | 'value_error.jsondecode' | 'value_error.list.max_items' | 'value_error.list.min_items' | 'value_error.metadata' | 'value_error.missing' | 'value_error.not' | 'value_error.not_found' | 'value_error.number.not_ge' | 'value_error.number.not_le' | 'value_error.number.size' | 'value_error.scope' | 'value_error.str.max_length' | 'value_error.str.min_length' | 'value_error.str.regex' | 'value_error.too_many' | 'value_error.url' | 'value_error.url.host' | 'value_error.url.scheme' | 'value_error.url_encoding' | 'value_error.uuid' | 'type_error.array' | 'type_error.boolean' | 'type_error.integer' | 'type_error.number' | 'type_error.object' | 'type_error.string';

export const events = ['payment-method.created', 'payment-method.updated', 'transaction.created', 'transaction.updated'] as const satisfies (keyof webhooks)[];
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
