// Written by `npm run generate` from openapi/. Do not edit.
import type { components, paths, webhooks } from './types.ts';

export const contractVersion = '1.3.0';

/** Of package.json: its command, and its name, after which packages, folders and connections are called. */
export const programName = 'payments';
export const packageName = 'payments-service';

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
  /** Those of the contract that the kit does not know, as they are written there. */
  readonly extensions: Readonly<Record<string, unknown>>;
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
    extensions: {},
    takesKey: false,
    statuses: [200, 400, 401, 403, 404, 405, 409, 422, 425, 429, 500, 502, 504],
    reserved: [404, 409, 425, 429, 502],
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
    extensions: {},
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
    extensions: {"x-velocity-limit":{"cards":{"limit":300,"window_seconds":60},"same_bin_and_last_four":{"limit":20,"window_seconds":86400}}},
    takesKey: true,
    statuses: [201, 400, 401, 403, 404, 405, 409, 422, 425, 429, 500, 504],
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
    extensions: {},
    takesKey: false,
    statuses: [200, 400, 401, 403, 404, 405, 422, 500, 504],
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
    extensions: {},
    takesKey: false,
    statuses: [200, 400, 401, 403, 405, 500, 504],
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
    extensions: {},
    takesKey: true,
    statuses: [201, 400, 401, 403, 404, 405, 422, 425, 500, 504],
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
    extensions: {},
    takesKey: false,
    statuses: [200, 400, 401, 403, 404, 405, 422, 500, 504],
    reserved: [],
    defaults: { query: ['limit'], body: [] },
  },
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;

interface Route extends Pick<Operation, 'takesKey'> {
  /** Whether it may answer 204. */
  readonly mayBeEmpty?: true;
  /** What a success has: a page has items and cursors, a list items, a resource a `type`. */
  readonly answer?: 'page' | 'list' | 'resource';
}

/** What the client needs at run time. Not read from the table above, which would make web pages larger. */
export const routes: Readonly<Record<string, Route>> = {
  'GET /api-key-pairs': { takesKey: false, answer: 'page' },
  'POST /gift-cards/balances': { takesKey: false, answer: 'list' },
  'POST /payment-methods': { takesKey: true, answer: 'resource' },
  'GET /transactions': { takesKey: false, answer: 'page' },
  'GET /card-scheme-definitions': { takesKey: false, answer: 'list' },
  'POST /webhook-subscriptions': { takesKey: true, answer: 'resource' },
  'GET /webhook-subscriptions': { takesKey: false, answer: 'page' },
};

/** The request and the responses of each: see server/kit/contract/handler-types.ts. */
export interface OperationTypes {
  listApiKeyPairs: paths['/api-key-pairs']['get'];
  checkGiftCardBalances: paths['/gift-cards/balances']['post'];
  createPaymentMethod: paths['/payment-methods']['post'];
  listTransactions: paths['/transactions']['get'];
  listCardSchemeDefinitions: paths['/card-scheme-definitions']['get'];
  createWebhookSubscription: paths['/webhook-subscriptions']['post'];
  listWebhookSubscriptions: paths['/webhook-subscriptions']['get'];
}

/** The names of the examples of its responses. */
export interface ExampleNames {
  listApiKeyPairs: 'only_page' | 'second_page' | 'invalid_query' | 'merchant_account_too_long' | 'unauthorized' | 'forbidden' | 'not_found' | 'method_not_allowed' | 'duplicate' | 'foreign_cursor' | 'too_early' | 'too_many_requests' | 'server_error' | 'bad_gateway' | 'gateway_timeout';
  checkGiftCardBalances: 'works' | 'mixed' | 'missing_pin' | 'malformed_json' | 'unauthorized' | 'forbidden' | 'not_found' | 'method_not_allowed' | 'too_early' | 'too_many_requests' | 'server_error' | 'bad_gateway' | 'gateway_timeout';
  createPaymentMethod: 'visa_succeeded' | 'own_identifier' | 'processing' | 'approval_required' | 'expired_card' | 'missing_number' | 'two_buyers' | 'malformed_json' | 'unauthorized' | 'forbidden' | 'not_found' | 'merchant_account_not_found' | 'method_not_allowed' | 'duplicate' | 'invalid_redirect_host' | 'idempotency_key_reused' | 'too_early' | 'too_many_cards' | 'server_error' | 'gateway_timeout';
  listTransactions: 'first_page' | 'last_page' | 'none_found' | 'invalid_query' | 'merchant_account_too_long' | 'unauthorized' | 'forbidden' | 'not_found' | 'method_not_allowed' | 'foreign_cursor' | 'invalid_metadata' | 'server_error' | 'gateway_timeout';
  listCardSchemeDefinitions: 'all' | 'invalid_query' | 'merchant_account_too_long' | 'unauthorized' | 'forbidden' | 'method_not_allowed' | 'server_error' | 'gateway_timeout';
  createWebhookSubscription: 'with_basic_authentication' | 'plain' | 'invalid_url' | 'malformed_json' | 'unauthorized' | 'forbidden' | 'not_found' | 'method_not_allowed' | 'plain_http' | 'invalid_host' | 'idempotency_key_reused' | 'too_early' | 'server_error' | 'gateway_timeout';
  listWebhookSubscriptions: 'only_page' | 'invalid_query' | 'merchant_account_too_long' | 'unauthorized' | 'forbidden' | 'not_found' | 'method_not_allowed' | 'foreign_cursor' | 'server_error' | 'gateway_timeout';
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
