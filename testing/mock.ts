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
import type { ExampleNames, OperationId, OperationTypes } from '../generated/operations.ts';
import { startProgram } from './child.ts';
import { createTokens, type Scope } from './token.ts';

export interface MockOptions {
  /** By default any free one. */
  port?: number | undefined;
  /** Delay of every response. */
  delayMilliseconds?: number | undefined;
  /** Made-up values instead of examples: with a seed always the same ones. */
  dynamic?: boolean | { seed: number } | undefined;
}

/** A call of an operation. */
export interface MockRequest {
  operation: string;
  method: string;
  /** With the query. */
  path: string;
  /** By their names in lower case. Secrets are masked. */
  headers: Record<string, string>;
  body: unknown;
  status: number | 'aborted';
}

type Responses<Id extends OperationId> = OperationTypes[Id]['responses'];

type Body<Response> = Response extends { content: { 'application/json': infer Json } } ? Json : never;

type Success = 200 | 201 | 202;

interface Common {
  /** In milliseconds, at most 30,000. */
  delay?: number | undefined;
  /** Only for the next request. Several wait for one request each. */
  once?: boolean | undefined;
}

interface Chosen<Id extends OperationId> {
  code?: keyof Responses<Id> | undefined;
  example?: ExampleNames[Id] | undefined;
  /** Made-up values instead of an example: with a `seed` always the same ones. */
  dynamic?: boolean | undefined;
  seed?: number | undefined;
  /** Seconds, for a `code` of 429 or 504. */
  retryAfter?: number | undefined;
  body?: undefined;
}

/** One of the contract's responses, or a body that it allows, without `code` that of a success. */
export type MockAnswer<Id extends OperationId> = Common &
  (
    | Chosen<Id>
    | { code?: undefined; body: Body<Responses<Id>[keyof Responses<Id> & Success]> }
    | { [Code in keyof Responses<Id>]: { code: Code; body: Body<Responses<Id>[Code]> } }[keyof Responses<Id>]
  );

export interface Mock {
  url: string;
  /** An access token for an hour. Without scopes: `*.read` and `*.write`. The mock also accepts any other text. */
  token: (...scopes: Scope[]) => Promise<string>;
  /** The calls so far, oldest first, at most 1,000. */
  requests: () => Promise<MockRequest[]>;
  /** The answer of the operation to whoever calls it, until `reset`: for a page under test. Token and request are judged first. */
  answer: <Id extends OperationId>(operation: Id, answer: MockAnswer<Id>) => Promise<void>;
  /** No operation has such an answer any more. */
  reset: () => Promise<void>;
  close: () => Promise<void>;
}

/** Ready when it resolves. It ends with this process, if nobody closes it before. */
export async function startMock({
  port = 0,
  delayMilliseconds = 0,
  dynamic = false,
}: MockOptions = {}): Promise<Mock> {
  const file = join(__dirname, '../start.js');
  const args = [
    '--json',
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--delay',
    String(delayMilliseconds),
    ...(dynamic === false ? [] : ['--dynamic']),
    ...(typeof dynamic === 'object' ? ['--seed', String(dynamic.seed)] : []),
  ];
  const { facts, ask, close } = await startProgram<{ url: string }>(file, args);
  // The mock verifies no signature.
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-521',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return {
    url: facts.url,
    token: createTokens(privateKey),
    requests: async () => ((await ask('requests')) as { requests: MockRequest[] }).requests,
    answer: async (operation, answer) => {
      await ask(`answer ${JSON.stringify({ ...answer, operation })}`);
    },
    reset: async () => {
      await ask('reset');
    },
    close,
  };
}
