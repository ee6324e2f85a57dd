/**
 * The mock on a free port, and a caller that holds every answer against the contract. Its own, because what the mock shows
 * with Prefer (reserved statuses too) must not count as seen of the server.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import { operations, type Operation, type OperationId } from '../../generated/operations.ts';
import { startMock, type Mock, type MockOptions } from '../../mock/mock.ts';

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed JSON. */
  body: never;
}

export interface CallOptions {
  /** `anything` unless told otherwise; null sends none. */
  token?: string | null;
  body?: unknown;
  /** Sent as it stands. */
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

export const contractFile = join(import.meta.dirname, '../../generated/openapi.json');

const contract = JSON.parse(readFileSync(contractFile, 'utf8')) as {
  paths: Record<string, Record<string, Described>>;
};

// An Ajv of the tests' own: the mock must not judge itself.
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv, { mode: 'full' });
ajv.addSchema(contract, 'contract');

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

/** A request that the operation accepts, by the contract's own example. */
export function rightRequest(id: OperationId): { method: string; path: string; body?: unknown } {
  const operation: Operation = operations[id];
  const [first] = examplesOf(described(operation).requestBody);
  return {
    method: operation.method.toUpperCase(),
    path: operation.path,
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
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      ...(payload === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(payload === undefined ? {} : { body: payload as string }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as never };
}

export const createCaller =
  (url: string): Caller =>
  async (method, path, options) => {
    const answer = await send(url, method, path, options);
    judge(method, path.split('?')[0] ?? '', answer);
    return answer;
  };

function judge(method: string, path: string, { status, headers, body }: Answer): void {
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('x-request-id')).toMatch(/^[\w.:-]{1,128}$/);
  expect(headers.get('access-control-allow-origin')).toBe('*');
  if (status === 401) expect(headers.get('www-authenticate')).toBe('Bearer');
  if (status === 405) expect(headers.get('allow')).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
  if (status === 429) expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  const here = table.filter(([, operation]) => operation.path === path);
  const exact = here.filter(([, operation]) => operation.method === method.toLowerCase());
  for (const [id, operation] of exact.length > 0 ? exact : here) {
    const declared = described(operation).responses[String(status)];
    expect(declared, `${id} does not declare ${status}`).toBeDefined();
    const pointer = `#/paths/${path.replaceAll('/', '~1')}/${operation.method}/responses/${status}`;
    const ref = `contract${declared?.$ref ?? pointer}/content/application~1json/schema`;
    const validate = ajv.getSchema(ref) ?? ajv.compile({ $ref: ref });
    expect(validate(body) ? [] : validate.errors, `${id} ${status} breaks the contract`).toEqual([]);
  }
}

export interface TestMock extends AsyncDisposable {
  url: string;
  call: Caller;
  /** What it said in the terminal. */
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
