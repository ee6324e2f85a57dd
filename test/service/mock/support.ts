/**
 * Starts the mock on a free port; `call` validates every answer against the contract. Separate from test/support/call.ts,
 * because statuses that the mock shows with Prefer must not count as seen from the server.
 */
import { join } from 'node:path';
import { operations, type Operation, type OperationId } from '../../../generated/operations.ts';
import { startMock, type Mock, type MockOptions } from '../../../mock/mock.ts';
import { examples } from '../../contract/examples.collect.ts';
import { expectContract, type Answer } from '../../support/contract-check.ts';
import { startTestService } from '../../support/service.ts';
import { exampleBody, examplePath } from '../../support/valid-request.ts';

export interface CallOptions {
  /** `anything` by default; null sends no token. */
  token?: string | null;
  body?: unknown;
  /** Sent unchanged. */
  raw?: string | Buffer;
  headers?: Record<string, string>;
}

export type Caller = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

export const contractFile = join(import.meta.dirname, '../../../generated/openapi.json');

export const table = Object.entries(operations) as [OperationId, Operation][];

/** Every operation × status × named example of the contract. */
export const everyExample = table.flatMap(([id]) =>
  examples
    .filter(({ operation, side }) => operation === id && side !== 'request')
    .map(({ side, name, value }) => ({ id, status: Number(side), name, value })),
);

/** A valid request, from the contract's example. */
export function rightRequest(id: OperationId): { method: string; path: string; body?: unknown } {
  const body = exampleBody(id);
  return {
    method: operations[id].method.toUpperCase(),
    path: examplePath(id),
    ...(body === undefined ? {} : { body }),
  };
}

export async function send(
  url: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { token = 'anything', body, raw, headers = {} } = options;
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(url + path, {
    method,
    headers: {
      // Reading a new contract may block the mock for longer than it keeps an idle connection.
      Connection: 'close',
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      ...(payload === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(payload === undefined ? {} : { body: payload as string }),
  });
  const text = await response.text();
  const answered = (text === '' ? undefined : JSON.parse(text)) as never;
  return { status: response.status, headers: response.headers, body: answered };
}

const createCaller =
  (url: string): Caller =>
  async (method, path, options) => {
    const answer = await send(url, method, path, options);
    expectContract(method, path, answer);
    return answer;
  };

export interface TestMock extends AsyncDisposable, Pick<Mock, 'url' | 'answer' | 'reset' | 'requests'> {
  call: Caller;
  /** What it printed. */
  lines: string[];
}

export async function startTestMock(options: MockOptions = {}): Promise<TestMock> {
  const lines: string[] = [];
  const mock: Mock = await startMock({ port: 0, log: (line) => void lines.push(line), ...options });
  return {
    ...mock,
    call: createCaller(mock.url),
    lines,
    [Symbol.asyncDispose]: () => mock.close(),
  };
}

/** Both, for tests that compare them. */
export async function startBoth(
  mockOptions: MockOptions = {},
  config: NonNullable<Parameters<typeof startTestService>[0]>['config'] = {},
) {
  const [mock, service] = await Promise.all([startTestMock(mockOptions), startTestService({ config })]);
  const stop = async () => {
    await mock[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  };
  return { mock, service, stop };
}
