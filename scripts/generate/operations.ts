// Writes generated/operations.ts: the tables of operations, errors and events that the server and the client use at run time.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolve } from '../../server/kit/contract/load.ts';
import { root } from '../support/root.ts';
import {
  errorsOf,
  operationsOf,
  type Contract,
  type Operation,
  type Parameter,
  type Window,
} from './contract.ts';

const { name, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  name: string;
  bin: object;
};
const [programName = name] = Object.keys(bin);

export function operationsModule(contract: Contract): string {
  const operations = operationsOf(contract);
  const table = operations
    .map(({ path, method, operation }) => entry(contract, path, method, operation))
    .join('\n');
  const types = operations
    .map(({ path, method, operation }) => `  ${operation.operationId}: paths['${path}']['${method}'];`)
    .join('\n');
  const examples = operations.map(({ operation }) => {
    const names = Object.values(operation.responses).flatMap((response) => exampleNames(contract, response));
    const union = [...new Set(names)].map((name) => `'${name}'`).join(' | ');
    return `  ${operation.operationId}: ${union || 'never'};`;
  });
  const errors = [...errorsOf(contract)].map(
    ([code, { status, message }]) => `  ${code}: { status: ${status}, message: ${JSON.stringify(message)} },`,
  );
  const routes = operations.map(({ path, method, operation }) => {
    const answer = answerOf(contract, operation);
    const facts = [
      `takesKey: ${takesKey(contract, operation)}`,
      ...('204' in operation.responses ? ['mayBeEmpty: true'] : []),
      ...(answer ? [`answer: '${answer}'`] : []),
    ];
    return `  '${method.toUpperCase()} ${path}': { ${facts.join(', ')} },`;
  });
  const { examples: kinds = [] } = (contract.components.schemas?.ErrorDetailType ?? {}) as {
    examples?: string[];
  };
  const events = Object.keys(contract.webhooks).map((name) => `'${name}'`);
  return `// Written by \`npm run generate\` from openapi/. Do not edit.
import type { components, paths, webhooks } from './types.ts';

export const contractVersion = '${contract.info.version}';

/** Of package.json: its command, and its name, after which packages, folders and connections are called. */
export const programName = '${programName}';
export const packageName = '${name}';

export interface Limit {
  readonly limit: number;
  readonly windowSeconds: number;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  /** Alternatives: one of them is enough. */
  readonly scopes: readonly string[];
  readonly merchantScope: 'none' | 'one' | 'many';
  readonly rateLimit: ({ readonly scope: string } & Limit) | null;
  /** Those of the contract that the kit does not know, as they are written there. */
  readonly extensions: Readonly<Record<string, unknown>>;
  /** Whether it takes an Idempotency-Key, as every POST and PATCH that writes does. */
  readonly takesKey: boolean;
  readonly statuses: readonly number[];
  /** Declared because the specification lists them; they never happen here. */
  readonly reserved: readonly number[];
  /** What the server fills in when the request leaves it out. */
  readonly defaults: { readonly query: readonly string[]; readonly body: readonly string[] };
}

export const operations = {
${table}
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;

interface Route extends Pick<Operation, 'takesKey'> {
  /** Whether it may answer 204. */
  readonly mayBeEmpty?: true;
  /** What a success has: a page has items and cursors, a list items, a resource a \`type\`. */
  readonly answer?: 'page' | 'list' | 'resource';
}

/** What the client needs at run time. Not read from the table above, which would make web pages larger. */
export const routes: Readonly<Record<string, Route>> = {
${routes.join('\n')}
};

/** The request and the responses of each: see server/kit/contract/handler-types.ts. */
export interface OperationTypes {
${types}
}

/** The names of the examples of its responses. */
export interface ExampleNames {
${examples.join('\n')}
}

/** Every error code with its status and its message, as the examples of the error responses have them. */
export const errors = {
${errors.join('\n')}
} as const satisfies Record<components['schemas']['ErrorCode'], { status: number; message: string }>;

/** The values of \`details[].type\` that the contract names. */
export type ErrorDetailType = ${kinds.map((kind) => `'${kind}'`).join(' | ') || 'never'};

export const events = [${events.join(', ')}] as const satisfies (keyof webhooks)[];
export type EventName = (typeof events)[number];
export type EventPayload<Name extends EventName> = webhooks[Name]['post']['requestBody']['content']['application/json'];
`;
}

function exampleNames(contract: Contract, response: unknown): string[] {
  const { content = {} } = resolve<{ content?: Record<string, { examples?: object }> }>(
    contract,
    response as object,
  );
  return Object.values(content).flatMap(({ examples = {} }) => Object.keys(examples));
}

const parametersOf = (contract: Contract, operation: Operation) =>
  (operation.parameters ?? []).map((parameter) => resolve<Parameter>(contract, parameter));

const takesKey = (contract: Contract, operation: Operation): boolean =>
  parametersOf(contract, operation).some((one) => one.in === 'header' && one.name === 'Idempotency-Key');

function answerOf(contract: Contract, { responses }: Operation): 'page' | 'list' | 'resource' | undefined {
  const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const schemas = answers.flatMap(([, response]) => {
    const { content } = resolve<{ content?: { 'application/json': { schema: object } } }>(
      contract,
      response as object,
    );
    return content ? [resolve<{ required?: string[] }>(contract, content['application/json'].schema)] : [];
  });
  const has = (name: string) =>
    schemas.length > 0 && schemas.every(({ required }) => required?.includes(name));
  if (has('items')) return has('next_cursor') ? 'page' : 'list';
  return has('type') ? 'resource' : undefined;
}

const known = ['x-deprecation', 'x-merchant-scope', 'x-rate-limit', 'x-reserved'];

const windowOf = ({ limit, window_seconds }: Window) => `limit: ${limit}, windowSeconds: ${window_seconds}`;

function entry(contract: Contract, path: string, method: string, operation: Operation): string {
  const quoted = (words: string[]) => `[${words.map((word) => `'${word}'`).join(', ')}]`;
  const scopes = operation.security.flatMap((alternative) => Object.values(alternative).flat());
  const limit = operation['x-rate-limit'];
  const rateLimit = limit ? `{ scope: '${limit.scope}', ${windowOf(limit)} }` : 'null';
  const own = Object.entries(operation).filter(([key]) => key.startsWith('x-') && !known.includes(key));
  const query = parametersOf(contract, operation)
    .filter((parameter) => parameter.in === 'query' && parameter.schema.default !== undefined)
    .map((parameter) => parameter.name);
  const statuses = Object.keys(operation.responses);
  return `  ${operation.operationId}: {
    id: '${operation.operationId}',
    method: '${method}',
    path: '${path}',
    summary: '${operation.summary.replaceAll(/[\\']/g, '\\$&')}',
    scopes: ${quoted(scopes)},
    merchantScope: '${operation['x-merchant-scope']}',
    rateLimit: ${rateLimit},
    extensions: ${JSON.stringify(Object.fromEntries(own))},
    takesKey: ${takesKey(contract, operation)},
    statuses: [${statuses.join(', ')}],
    reserved: [${Object.keys(operation['x-reserved'] ?? {}).join(', ')}],
    defaults: { query: ${quoted(query)}, body: ${quoted(bodyDefaults(contract, operation))} },
  },`;
}

function bodyDefaults(contract: Contract, operation: Operation): string[] {
  const body = operation.requestBody;
  if (!body) return [];
  const { properties = {} } = resolve(contract, body.content['application/json'].schema);
  return Object.entries(properties)
    .filter(([, property]) => 'default' in property)
    .map(([name]) => name);
}
