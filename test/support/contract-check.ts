/** Validates an answer against the contract: status, body and headers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import { operations, type Operation, type OperationId } from '../../generated/operations.ts';

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed JSON. */
  body: never;
}

const contract = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'),
) as {
  paths: Record<string, Record<string, { responses: Record<string, { $ref?: string }> }>>;
};

// A separate Ajv, because the tests must not rely on the validators of the server and the mock.
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv, { mode: 'full' });
ajv.addSchema(contract, 'contract');

const operationsAt = (method: string, path: string): [OperationId, Operation][] => {
  const here = (Object.entries(operations) as [OperationId, Operation][]).filter(
    ([, operation]) => operation.path === path,
  );
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
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('x-request-id')).toMatch(/^[\w.:-]{1,128}$/);
  expect(headers.get('access-control-allow-origin')).toBe('*');
  if (status === 401) expect(headers.get('www-authenticate')).toBe('Bearer');
  if (status === 405) expect(headers.get('allow')).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
  if (status === 429) expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  const here = operationsAt(method, path);
  for (const [id, operation] of here) {
    const declared = contract.paths[path]?.[operation.method]?.responses[String(status)];
    expect(declared, `${id} does not declare ${status}`).toBeDefined();
    const encoded = path.replaceAll('/', '~1');
    const base = declared?.$ref ?? `#/paths/${encoded}/${operation.method}/responses/${status}`;
    const ref = `contract${base}/content/application~1json/schema`;
    const validate = ajv.getSchema(ref) ?? ajv.compile({ $ref: ref });
    expect(validate(body) ? [] : validate.errors, `${id} ${status} breaks the contract`).toEqual([]);
  }
  return here;
}
