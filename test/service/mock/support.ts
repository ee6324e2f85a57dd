/**
 * Starts the mock on a free port; `call` validates every answer against the contract. Separate from test/support/call.ts,
 * because statuses that the mock shows with Prefer must not count as seen from the server.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operations, type Operation, type OperationId } from '../../../generated/operations.ts';
import { startMock, type Mock, type MockOptions } from '../../../mock/mock.ts';
import { expectContract, type Answer } from '../../support/contract-check.ts';
import { examplePath } from '../../support/valid-request.ts';

export interface CallOptions {
  /** `anything` by default; null sends no token. */
  token?: string | null;
  body?: unknown;
  /** Sent unchanged. */
  raw?: string | Buffer;
  headers?: Record<string, string>;
}

export type Caller = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

interface Example {
  $ref?: string;
  value?: unknown;
}

interface Media {
  content?: { 'application/json': { examples?: Record<string, Example> } };
}

interface Described {
  requestBody?: Media;
  responses: Record<string, Media & { $ref?: string }>;
}

export const contractFile = join(import.meta.dirname, '../../../generated/openapi.json');

const contract = JSON.parse(readFileSync(contractFile, 'utf8')) as {
  paths: Record<string, Record<string, Described>>;
};

const follow = <T extends object>(node: T & { $ref?: string }): T =>
  node.$ref === undefined
    ? node
    : node.$ref
        .split('/')
        .slice(1)
        .reduce<never>((at, key) => at[key.replaceAll('~1', '/')], contract as never);

const described = ({ path, method }: Operation): Described => {
  const found = contract.paths[path]?.[method];
  if (!found) throw new Error(`${method} ${path} is not in the contract`);
  return found;
};

const examplesOf = (media: Media | undefined): [name: string, value: unknown][] =>
  Object.entries(media?.content?.['application/json'].examples ?? {}).map(([name, example]) => [
    name,
    follow(example).value,
  ]);

export const table = Object.entries(operations) as [OperationId, Operation][];

/** Every operation × status × named example of the contract. */
export const everyExample = table.flatMap(([id, operation]) =>
  Object.entries(described(operation).responses).flatMap(([status, response]) =>
    examplesOf(follow(response)).map(([name, value]) => ({ id, status: Number(status), name, value })),
  ),
);

/** A valid request, from the contract's example. */
export function rightRequest(id: OperationId): { method: string; path: string; body?: unknown } {
  const operation: Operation = operations[id];
  const [first] = examplesOf(described(operation).requestBody);
  return {
    method: operation.method.toUpperCase(),
    path: examplePath(id),
    ...(first ? { body: first[1] } : {}),
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

export const createCaller =
  (url: string): Caller =>
  async (method, path, options) => {
    const answer = await send(url, method, path, options);
    expectContract(method, path, answer);
    return answer;
  };

export interface TestMock extends AsyncDisposable {
  url: string;
  call: Caller;
  /** What it printed. */
  lines: string[];
}

export async function startTestMock(options: MockOptions = {}): Promise<TestMock> {
  const lines: string[] = [];
  const mock: Mock = await startMock({ port: 0, log: (line) => void lines.push(line), ...options });
  return {
    url: mock.url,
    call: createCaller(mock.url),
    lines,
    [Symbol.asyncDispose]: () => mock.close(),
  };
}
