/** The parts of a request that an operation accepts, from the contract. */
import { expect } from 'vitest';
import { operations, type Operation, type OperationId } from '../../generated/operations.ts';
import { loadContract, operationsOf, resolve, type Parameter } from '../../server/kit/contract/load.ts';
import type { TestService } from './service.ts';

const { document } = loadContract();

/** The parameters of a path. */
export type MadePath = Record<string, string>;

export const mustSucceed =
  'the valid request must succeed; create its record: "Records in a test" in docs/guides/backend-engineer.md';

/** The first example of the contract for a request to this operation; undefined if it has no body. */
export function exampleBody(id: OperationId): unknown {
  const found = operationsOf(document).find(({ operation }) => operation.operationId === id);
  const [example] = Object.values(found?.operation.requestBody?.content['application/json'].examples ?? {});
  return example && resolve<{ value?: unknown }>(document, example).value;
}

/** The path with these parameters. Others get a value that the contract allows: an ID of which the service has no record. */
export function examplePath(id: OperationId, given: MadePath = {}): string {
  const found = operationsOf(document).find(({ operation }) => operation.operationId === id);
  const parameters = (found?.operation.parameters ?? []).map((one) => resolve<Parameter>(document, one));
  const valueOf = (name: string) => {
    const { schema } = parameters.find((one) => one.in === 'path' && one.name === name) ?? {};
    const { enum: values = [] } = (schema ? resolve(document, schema) : {}) as { enum?: string[] };
    return values[0] ?? '2f1c6a52-6f0e-4c55-9d3b-8a4f6f2f9b11';
  };
  return operations[id].path.replace(/\{(\w+)\}/g, (_, name: string) => given[name] ?? valueOf(name));
}

/** Creates the record that a path names, by the POST of its collection; undefined if the contract has none. */
export function recordMaker(path: string) {
  const [, collection = '', parameter = ''] = /^([^{]+)\/\{(\w+)\}[^{]*$/.exec(path) ?? [];
  const all = Object.entries(operations) as [OperationId, Operation][];
  const create = all.find(([, one]) => one.path === collection && one.method === 'post');
  if (!create) return undefined;
  const [id, { scopes }] = create;
  return async ({ service }: { service: TestService }): Promise<MadePath> => {
    const made = await service.call('POST', collection, {
      token: service.token(scopes[0] ?? ''),
      body: exampleBody(id),
    });
    expect(made.status, mustSucceed).toBe(201);
    return { [parameter]: (made.body as { id: string }).id };
  };
}
