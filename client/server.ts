/**
 * `payments-service-client/server`: everything in `payments-service-client`, and signing with the private key of an API
 * key pair. The client signs its own tokens and renews them before they expire. For Node.js, Bun, Deno and workers at the edge:
 * everywhere but in browsers, where a private key would be public.
 *
 * ```ts
 * import { readFileSync } from 'node:fs';
 * import { createPaymentsClient } from 'payments-service-client/server';
 *
 * const client = createPaymentsClient({
 *   baseUrl: 'http://127.0.0.1:8080',
 *   keyPair: { privateKey: readFileSync('.data/sandbox-key.pem') },
 * });
 * ```
 */
import {
  createPaymentsClient as createTokenClient,
  type ClientOptions,
  type TokenClientOptions,
} from './client.ts';
import { createTokenSource, type KeyPair } from './signing.ts';
import type { PaymentsClient } from './types.ts';

export * from './index.ts';
export { createTokenSource, signToken, type KeyPair } from './signing.ts';
export { signTestWebhook } from './webhooks.ts';

export interface KeyPairClientOptions extends ClientOptions {
  keyPair: KeyPair;
  token?: undefined;
}

export type PaymentsClientOptions = (TokenClientOptions & { keyPair?: undefined }) | KeyPairClientOptions;

export function createPaymentsClient(options: PaymentsClientOptions): PaymentsClient {
  if (!options.keyPair) return createTokenClient(options);
  return createTokenClient({ ...options, token: createTokenSource(options.keyPair) });
}
