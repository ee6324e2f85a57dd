// Writes a test for each operation that has none, beside its stub. What all operations share runs at once; what only the
// author can write is listed by the test as things to do.
import { resolve } from '../../server/kit/contract/load.ts';
import type { Contract, Operation, Parameter } from './contract.ts';
import { kebab } from './handlers.ts';

/** A handler that is no stub was written by `npm run new -- table`. */
export function testOf(
  contract: Contract,
  { operation, isStub }: { operation: Operation; isStub: boolean },
): string {
  const { operationId: id, summary } = operation;
  const handler = `server/handlers/${kebab(id)}.ts`;
  const statuses = Object.keys(operation.responses).map(Number);
  const success = statuses.find((status) => status < 300) ?? 200;
  const parameters = (operation.parameters ?? []).map((one) => resolve<Parameter>(contract, one));
  const takes = (name: string) => parameters.some((one) => one.name === name);
  // Statuses that `describeOperation` brings about by itself. A stub reads no cursor.
  const tested = [
    ...[400, 401, 403, 405, 425, 500, 504],
    ...(operation['x-merchant-scope'] === 'none' ? [] : [404]),
    ...(takes('Idempotency-Key') || (takes('cursor') && !isStub) ? [422] : []),
  ];
  const todo: [number, string][] = statuses
    .filter((status) => !tested.includes(status) && !operation['x-reserved']?.[status])
    // The test below asks a handler that is there.
    .filter((status) => isStub || status !== success)
    .map((status) => [
      status,
      status === success
        ? `implement ${handler} and test what it answers`
        : (hints[status] ?? 'test a request that leads to it'),
    ]);
  const filters = parameters.flatMap((one) =>
    one.in === 'query' && !/^(cursor|limit)$/.test(one.name) ? one.name : [],
  );
  return `import { describe, expect, it } from 'vitest';
import { describeOperation } from '../../support/operation.ts';
import { mustSucceed } from '../../support/valid-request.ts';

// Written by \`npm run generate\`. The statuses that all operations share are tested by describeOperation. Write a test for each
// status below \`todo\`, and delete its line there.
describeOperation('${id}', ${todo.length > 0 ? `{ todo: ${literal(Object.fromEntries(todo))} }` : '{}'}, (frame) => {
  describe(${JSON.stringify(`${success} ${summary.charAt(0).toLowerCase()}${summary.slice(1)}`)}, () => {
    it('answers a valid request', async () => {
      const { status } = await frame.call();
      expect(status, mustSucceed).toBe(${success});
    });
${filters.map((filter) => filterTodo(filter)).join('')}  });
});
`;
}

const filterTodo = (name: string) => `
    it.todo('${name}: list those that it finds and no others, and refuse a cursor of another value with 422');
`;

const hints: Record<number, string> = {
  404: 'ask for a record that does not exist',
  409: 'bring about the conflict twice, and check what is stored',
  422: 'send what the contract allows and the operation refuses, such as a foreign cursor',
  429: 'call it until its limit is reached',
};

// Keys without quotes, as Prettier leaves numbers alone.
const literal = (value: unknown) => JSON.stringify(value).replace(/"(\d{3})":/g, '$1:');
