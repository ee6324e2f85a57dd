// Writes a test for each operation that has none, beside its stub. What all operations share runs at once; what only the
// author can write is listed by the test as things to do.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { operationsOf, resolve, type Contract, type Operation } from './contract.ts';
import { formatted } from './format.ts';
import { ids, kebab } from './handlers.ts';

const folder = 'test/service/operations';
const suffix = '.test.ts';

const existing = (project: string) => readdir(join(project, folder)).catch((): string[] => []);

/** Statuses that `describeOperation` brings about by itself. */
const shared = (operation: Operation) => [
  ...[400, 401, 403, 405, 425, 500],
  // Of a merchant account. A record that does not exist remains to be tested.
  ...(operation['x-merchant-scope'] === 'none' || hasPath(operation) ? [] : [404]),
];

const hasPath = ({ parameters = [] }: Operation) =>
  parameters.some((one) => 'in' in one && one.in === 'path');

export async function testStubs(contract: Contract, project: string): Promise<[string, string][]> {
  const files = await existing(project);
  const missing = operationsOf(contract).filter(
    ({ operation: { operationId } }) => !files.includes(kebab(operationId) + suffix),
  );
  if (missing.length === 0) return [];
  return Promise.all(
    missing.map(async ({ path, operation }): Promise<[string, string]> => {
      return [
        `${folder}/${kebab(operation.operationId)}${suffix}`,
        await formatted(testOf(contract, path, operation)),
      ];
    }),
  );
}

function testOf(contract: Contract, path: string, given: Operation): string {
  const parameters = (given.parameters ?? []).map((one) => resolve(contract, one));
  const operation = { ...given, parameters } as unknown as Operation;
  const { operationId: id, summary } = operation;
  const handler = `server/handlers/${kebab(id)}.ts`;
  const statuses = Object.keys(operation.responses).map(Number);
  const success = statuses.find((status) => status < 300) ?? 200;
  const todo: [number, string][] = statuses
    .filter((status) => !shared(operation).includes(status) && !operation['x-reserved']?.[status])
    .map((status) => [
      status,
      status === success
        ? `implement ${handler} and test what it answers`
        : (hints[status] ?? 'test a request that leads to it'),
    ]);
  const options = {
    ...(hasPath(operation) ? { valid: { path: Object.fromEntries(paths(contract, operation)) } } : {}),
    todo: Object.fromEntries(todo),
  };
  const [missing] = paths(contract, operation)
    .filter(([, value]) => value === aUuid)
    .slice(-1);
  const named = missing && statuses.includes(404) ? missing[0] : undefined;
  const filters = (operation.parameters ?? []).flatMap((one) =>
    'in' in one && one.in === 'query' && !/^(cursor|limit)$/.test(one.name) ? one.name : [],
  );
  const create = named === undefined ? undefined : createOf(contract, path);
  return `${named === undefined ? '' : "import { randomUUID } from 'node:crypto';\n"}import { describe, expect, it } from 'vitest';
import { describeOperation${create ? ', exampleBody' : ''} } from '../../support/operation.ts';

// Written by \`npm run generate\`. The statuses that all operations share are tested by describeOperation. Write a test for each
// status below \`todo\`, and delete its line there.
describeOperation('${id}', ${literal(options)}, (frame) => {
  describe(${JSON.stringify(`${success} ${summary.charAt(0).toLowerCase()}${summary.slice(1)}`)}, () => {
    it('answers a valid request', async () => {
      const { status } = await frame.call();
      expect(status).toBe(${success});
    });
${filters.map((filter) => filterTodo(filter)).join('')}  });
${named === undefined ? '' : notFoundTests(named, create, success)}});
`;
}

/** Skipped, because a stub finds every record. */
const notFoundTests = (parameter: string, create: Create | undefined, success: number) => `
  // Delete \`.skip\`, and 404 below \`todo\`, once the handler looks for the record.
  describe('404 for a record that this merchant account does not have', () => {
    it.skip('one that does not exist', async () => {
      const { status } = await frame.call({ path: { ${parameter}: randomUUID() } });
      expect(status).toBe(404);
    });

${create ? foreignTest(parameter, create, success) : foreignTodo}  });
`;

interface Create {
  id: string;
  path: string;
  scope: string;
}

/** The operation that creates what `path` gets one of: POST of the collection. */
function createOf(contract: Contract, path: string): Create | undefined {
  const collection = path.replace(/\/\{\w+\}$/, '');
  const found = operationsOf(contract).find((one) => one.path === collection && one.method === 'post');
  const scope = found?.operation.security.flatMap((one) => Object.values(one).flat())[0];
  if (!found || scope === undefined || collection.includes('{')) return undefined;
  return { id: found.operation.operationId, path: collection, scope };
}

const foreignTest = (parameter: string, { id, path, scope }: Create, success: number) => `
    it.skip('one of another merchant account', async () => {
      const headers = { 'X-Service-Merchant-Account-ID': 'marketplace' };
      const token = frame.service.token('${scope}');
      const body = exampleBody('${id}');
      const made = await frame.service.call('POST', '${path}', { token, headers, body });
      expect(made.status).toBe(201);
      const path = { ${parameter}: (made.body as { id: string }).id };
      expect((await frame.call({ path })).status).toBe(404);
      expect((await frame.call({ path, headers })).status).toBe(${success});
    });
`;

const filterTodo = (name: string) => `
    it.todo('${name}: list those that it finds and no others, and refuse a cursor of another value with 422');
`;

const foreignTodo = `
    it.todo(
      'one of another merchant account: create it for "marketplace", as "Records in a test" in docs/guides/backend-engineer.md does, and ask for it without a header',
    );
`;

const hints: Record<number, string> = {
  404: 'ask for a record that does not exist, and for one of another merchant account',
  409: 'bring about the conflict twice, and check what is stored',
  422: 'send what the contract allows and the operation refuses, such as a foreign cursor or a reused key',
  429: 'call it until its limit is reached',
};

// Keys without quotes, as Prettier leaves numbers alone.
const literal = (value: unknown) => JSON.stringify(value).replace(/"(\d{3}|[a-z_]+)":/g, '$1:');

const aUuid = '2f1c6a52-6f0e-4c55-9d3b-8a4f6f2f9b11';

const paths = (contract: Contract, { parameters = [] }: Operation) =>
  parameters.flatMap((one): [string, string][] => {
    if (!('in' in one) || one.in !== 'path') return [];
    const { format, enum: known } = resolve(contract, one.schema) as { format?: string; enum?: string[] };
    return [[one.name, known?.[0] ?? (format === 'uuid' ? aUuid : 'unicorn')]];
  });

/** Tests of operations that the contract does not have. */
export async function orphanTests(contract: Contract, project: string): Promise<string[]> {
  const expected = new Set(ids(contract).map((id) => kebab(id) + suffix));
  const files = await existing(project);
  return files
    .filter((file) => file.endsWith(suffix) && !expected.has(file))
    .map((file) => `${folder}/${file}`);
}
