/**
 * Calls the service and holds the answer against the contract: status declared, body of the declared shape, headers there.
 * What was seen is remembered, so that a test can tell whether every declared status of an operation was.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import { operations, type Operation, type OperationId } from '../../generated/operations.ts';

interface Answer {
  status: number;
  headers: Headers;
  /** Parsed JSON. */
  body: never;
  text: string;
}

export interface CallOptions {
  token?: string | undefined;
  body?: unknown;
  /** Sent as it stands. */
  raw?: string | Buffer;
  headers?: Record<string, string>;
}

export type Caller = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

const contract = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'),
) as {
  paths: Record<string, Record<string, { responses: Record<string, { $ref?: string }> }>>;
};

// An Ajv of the tests' own: the server's must not judge itself.
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv, { mode: 'full' });
ajv.addSchema(contract, 'contract');

const seen = new Map<OperationId, Set<number>>();

export const observed = (id: OperationId): number[] => [...(seen.get(id) ?? [])].sort((a, b) => a - b);

const operationsAt = (method: string, path: string): [OperationId, Operation][] => {
  const here = (Object.entries(operations) as [OperationId, Operation][]).filter(
    ([, operation]) => operation.path === path,
  );
  const exact = here.filter(([, operation]) => operation.method === method.toLowerCase());
  // 405 belongs to the path, so it counts for every operation there.
  return exact.length > 0 ? exact : here;
};

export const createCaller =
  (url: string): Caller =>
  async (method, path, { token, body, raw, headers = {} } = {}) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(payload === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(payload === undefined ? {} : { body: payload as string }),
    });
    const text = await response.text();
    const answer = {
      status: response.status,
      headers: response.headers,
      body: JSON.parse(text) as never,
      text,
    };
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
  for (const [id, operation] of operationsAt(method, path)) {
    const declared = contract.paths[path]?.[operation.method]?.responses[String(status)];
    expect(declared, `${id} does not declare ${status}`).toBeDefined();
    const encoded = path.replaceAll('/', '~1');
    const base = declared?.$ref ?? `#/paths/${encoded}/${operation.method}/responses/${status}`;
    const ref = `contract${base}/content/application~1json/schema`;
    const validate = ajv.getSchema(ref) ?? ajv.compile({ $ref: ref });
    expect(validate(body) ? [] : validate.errors, `${id} ${status} breaks the contract`).toEqual([]);
    expect(
      operation.reserved,
      `${id} answered ${status}, which the contract says never happens`,
    ).not.toContain(status);
    seen.set(id, (seen.get(id) ?? new Set()).add(status));
  }
}
