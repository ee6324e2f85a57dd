/**
 * `payments-service/client`: a typed client of the payments service, for browsers, workers and Node.js 20 or later.
 * Paths, parameters, bodies and errors have the types of the contract, so a misspelt field does not compile.
 *
 * ```ts
 * import { createPaymentsClient, unwrap } from 'payments-service/client';
 *
 * const client = createPaymentsClient({
 *   baseUrl: 'http://127.0.0.1:8080',
 *   token: () => fetch('/my-backend/token').then((response) => response.text()),
 *   merchantAccount: 'default',
 * });
 *
 * // A call resolves to { data, error, response }; unwrap() returns the data or throws a PaymentsError.
 * const { items } = unwrap(await client.GET('/card-scheme-definitions'));
 *
 * // Iterates over the items of all pages.
 * for await (const transaction of client.paginate('/transactions', { query: { status: ['capture_succeeded'] } })) {
 *   console.log(transaction.id, transaction.amount, transaction.currency);
 * }
 * ```
 *
 * - On a server, `payments-service/client/node` signs tokens itself: `createPaymentsClient({ keyPair: { privateKey } })`.
 * - The client makes up to three attempts. It retries every request after 429, when `Retry-After` (up to 60 seconds) has
 *   passed, and GET also after network errors and 5xx. Every write has an `Idempotency-Key`, a random one unless you set it, and
 *   is retried like GET with the same key, once an answer to a write has shown that the server honours keys (contract 1.1 or
 *   later; `retry: { writes: true }` if you know that it does). `retry: { tries: 1 }` disables retries.
 * - `verifyWebhook({ headers, body, secret })` returns the event of a webhook delivery, or throws.
 *
 * Must not import anything Node-only; a test bundles this file for a browser.
 */
export { createPaymentsClient, type ClientOptions, type TokenClientOptions } from './client.ts';
export { PaymentsError, unwrap, type PaymentsErrorCode, type PaymentsErrorDetail } from './errors.ts';
export type { Fetch, RetryOptions, Sleep } from './retry.ts';
export type {
  EventPayload,
  Item,
  ListPath,
  Page,
  PaymentsClient,
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
export type { EventName } from '../generated/operations.ts';
export type { paths } from '../generated/types.ts';
