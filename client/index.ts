/**
 * `payments-service/client`: a typed client of the payments service, for browsers, workers and Node.js 20 or later.
 * Paths, parameters, bodies and errors have the types of the contract; what the contract does not know does not compile.
 *
 * ```ts
 * import { createPaymentsClient, unwrap } from 'payments-service/client';
 *
 * const client = createPaymentsClient({
 *   baseUrl: 'http://127.0.0.1:8080',
 *   token: () => fetch('/my-backend/token').then((answer) => answer.text()),
 *   merchantAccount: 'default',
 * });
 *
 * // An answer is { data, error, response }; unwrap() turns an error into a thrown PaymentsError.
 * const { items } = unwrap(await client.GET('/card-scheme-definitions'));
 *
 * // All pages of a list, one item after the other.
 * for await (const transaction of client.paginate('/transactions', { query: { status: ['capture_succeeded'] } })) {
 *   console.log(transaction.id, transaction.amount, transaction.currency);
 * }
 * ```
 *
 * - On a server, `payments-service/client/node` signs tokens itself: `createPaymentsClient({ keyPair: { privateKey } })`.
 * - 429 is waited for as `Retry-After` says, at most 60 seconds and three tries; GET also survives a lost connection and
 *   5xx. A POST that may have changed something is never sent twice. `retry: { tries: 1 }` switches all of it off.
 * - `verifyWebhook({ headers, body, secret })` answers with the event of a delivery, or throws.
 *
 * Nothing that this file imports may need Node.js; a test bundles it for a browser.
 */
export { createPaymentsClient, type ClientOptions, type TokenClientOptions } from './client.ts';
export { PaymentsError, unwrap, type PaymentsErrorCode, type PaymentsErrorDetail } from './errors.ts';
export type { Fetch, RetryOptions, Sleep } from './retry.ts';
export type { Item, ListPath, Page, PaymentsClient, Schemas, Scope, WalkOptions } from './types.ts';
export {
  verifyWebhook,
  WebhookVerificationError,
  type WebhookDelivery,
  type WebhookEvent,
  type WebhookVerificationCode,
} from './webhooks.ts';
export type { EventName, EventPayload } from '../generated/operations.ts';
export type { paths } from '../generated/types.ts';
