/**
 * `payments-service-client`: a typed client of the payments service, for browsers, workers, Node.js, Bun and Deno. Paths,
 * parameters, bodies and answers have the types of the contract, so a field that is misspelt in a call does not compile.
 *
 * ```ts
 * import { createPaymentsClient, unwrap } from 'payments-service-client';
 *
 * const client = createPaymentsClient({
 *   baseUrl: 'http://127.0.0.1:8080',
 *   token: () => fetch('/my-backend/token').then((response) => response.text()),
 *   merchantAccount: 'default',
 * });
 *
 * // A call resolves to { data, error, response }; unwrap() returns the data or throws the error, a PaymentsError.
 * const { items } = unwrap(await client.GET('/card-scheme-definitions'));
 *
 * // Iterates over the items of all pages. Takes the options of GET.
 * const transactions = client.paginate('/transactions', { params: { query: { currency: ['EUR'] } } });
 * for await (const transaction of transactions) {
 *   console.log(transaction.id, transaction.amount, transaction.status);
 * }
 * ```
 *
 * - On a server, `payments-service-client/server` signs tokens itself: `createPaymentsClient({ keyPair: { privateKey } })`.
 * - The client makes up to three attempts of 30 seconds each. It retries every request after 429, when `Retry-After` has passed
 *   (up to 60 seconds, in a browser 5), and GET also after network errors and 5xx. Every write has an `Idempotency-Key`, a random one unless you set it, and
 *   is retried like GET with the same key. `retry: { tries: 1 }` disables retries; `onRetry` beside it is told of each.
 * - `verifyWebhook({ headers, body, secret })` returns the event of a webhook delivery, or throws.
 *
 * Must not import anything Node-only: client/tsconfig.json leaves out the types of Node.js, and a test bundles this file for a
 * browser.
 */
export { createPaymentsClient, unwrap, type ClientOptions, type TokenClientOptions } from './client.ts';
export { PaymentsError, type PaymentsErrorCode, type PaymentsErrorDetail } from './errors.ts';
export type { Fetch, Retry, RetryOptions, Sleep } from './retry.ts';
export type {
  EventPayload,
  FetchClient,
  Item,
  ListPath,
  Page,
  PaymentsClient,
  Query,
  Result,
  Schemas,
  Scope,
  WalkOptions,
} from './types.ts';
export {
  verifyWebhook,
  WebhookVerificationError,
  type WebhookDelivery,
  type WebhookEvent,
  type WebhookVerificationCode,
} from './webhooks.ts';
export type * from '../generated/answers.ts';
export type { EventName } from '../generated/operations.ts';
export type { paths } from '../generated/types.ts';
