/** Validates an answer against the contract: status, body and headers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { operations, type Operation, type OperationId } from '../../generated/operations.ts';

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed JSON; undefined if there is none. */
  body: never;
}

const contract = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'),
) as {
  paths: Record<string, Record<string, { responses: Record<string, { $ref?: string }> }>>;
};

// A separate Ajv, because the tests must not rely on the validators of the server and the mock.
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
addFormats.default(ajv, { mode: 'full' });
ajv.addSchema(contract, 'contract');

/** `{…}` in a path of the contract stands for one segment. */
export const matches = (template: string, path: string): boolean => {
  const [parts, given] = [template.split('/'), path.split('/')];
  return (
    parts.length === given.length &&
    parts.every((part, index) => (/^\{.+\}$/.test(part) ? given[index] !== '' : part === given[index]))
  );
};

const operationsAt = (method: string, path: string): [OperationId, Operation][] => {
  const all = Object.entries(operations) as [OperationId, Operation][];
  const literal = all.filter(([, operation]) => operation.path === path);
  const here = literal.length > 0 ? literal : all.filter(([, operation]) => matches(operation.path, path));
  const exact = here.filter(([, operation]) => operation.method === method.toLowerCase());
  // 405 belongs to the path, so it counts for every operation there.
  return exact.length > 0 ? exact : here;
};

/** Returns the operations that the answer may belong to. */
export function expectContract(
  method: string,
  target: string,
  { status, headers, body }: Answer,
): [OperationId, Operation][] {
  const [path = ''] = target.split('?');
  expect(headers.get('content-type')).toBe(status === 204 ? null : 'application/json; charset=utf-8');
  expect(headers.get('x-request-id')).toMatch(/^[\w.:-]{1,128}$/);
  expect(headers.get('access-control-allow-origin')).toBe('*');
  if (status === 401) expect(headers.get('www-authenticate')).toBe('Bearer');
  if (status === 405) expect(headers.get('allow')).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
  if (status === 429 || status === 504) expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  const here = operationsAt(method, path);
  if (here.length === 0) {
    expect(status, `no operation of the contract has the path ${path}`).toBe(404);
    expectSchema('contract#/components/schemas/Error', body, `${path} 404`);
  }
  for (const [id, operation] of here) {
    const declared = contract.paths[operation.path]?.[operation.method]?.responses[String(status)];
    expect(declared, `${id} does not declare ${status}`).toBeDefined();
    if (status === 204) {
      expect(body, `${id} 204 has a body`).toBeUndefined();
      continue;
    }
    const encoded = encodeURIComponent(operation.path.replaceAll('/', '~1'));
    const base = declared?.$ref ?? `#/paths/${encoded}/${operation.method}/responses/${status}`;
    expectSchema(`contract${base}/content/application~1json/schema`, body, `${id} ${status}`);
  }
  return here;
}

function expectSchema(ref: string, body: unknown, what: string): void {
  const validate = ajv.getSchema(ref) ?? ajv.compile({ $ref: ref });
  expect(validate(body) ? [] : validate.errors, `${what} breaks the contract`).toEqual([]);
}
