/**
 * `payments-mock`: the mock for tests, on a free port.
 *
 * ```ts
 * import { startMock } from 'payments-mock';
 *
 * const mock = await startMock();
 * ```
 */
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { startProgram } from './child.ts';
import { createTokens, type Scope } from './token.ts';

export interface MockOptions {
  /** By default any free one. */
  port?: number | undefined;
  /** Delay of every response. */
  delayMilliseconds?: number | undefined;
}

/** A call of an operation. */
export interface MockRequest {
  operation: string;
  method: string;
  /** With the query. */
  path: string;
  body: unknown;
  status: number | 'aborted';
}

export interface Mock {
  url: string;
  /** An access token for an hour. Without scopes: `*.read` and `*.write`. The mock also accepts any other text. */
  token: (...scopes: Scope[]) => Promise<string>;
  /** The calls so far, oldest first, at most 1,000. */
  requests: () => Promise<MockRequest[]>;
  close: () => Promise<void>;
}

/** Ready when it resolves. It ends with this process, if nobody closes it before. */
export async function startMock({ port = 0, delayMilliseconds = 0 }: MockOptions = {}): Promise<Mock> {
  const file = join(__dirname, '../start.js');
  const args = [
    '--json',
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--delay',
    String(delayMilliseconds),
  ];
  const { facts, ask, close } = await startProgram<{ url: string }>(file, args);
  // The mock checks everything of a token but its signature.
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-521',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return {
    url: facts.url,
    token: createTokens(privateKey),
    requests: async () => ((await ask('requests')) as { requests: MockRequest[] }).requests,
    close,
  };
}
