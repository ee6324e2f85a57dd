// Loads the bundled contract that `npm run generate` creates. The text is kept to find line numbers for error messages.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { OperationId } from '../../../generated/operations.ts';
import { OperatorFault } from '../faults.ts';
import type { Result } from './handler-types.ts';

export interface Schema {
  [keyword: string]: unknown;
  $ref?: string;
  type?: string | string[];
}

export interface Media {
  schema: Schema;
  examples: Record<string, { $ref?: string; value?: unknown }>;
}

export interface Parameter {
  name: string;
  in: 'query' | 'header' | 'path';
  required?: boolean;
  allowReserved?: boolean;
  allowEmptyValue?: boolean;
  schema: Schema;
}

export interface Response {
  content?: { 'application/json': Media };
}

export interface ContractOperation {
  operationId: string;
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { required?: boolean; content: { 'application/json': Media } };
  responses: Record<string, Response | { $ref: string }>;
  /** Dates: since when it is deprecated, and until when it works. */
  'x-deprecation'?: { since: string; sunset: string };
}

export interface Document {
  openapi: string;
  info: { title: string; version: string };
  servers?: { url: string }[];
  paths: Record<string, Record<string, ContractOperation>>;
  webhooks: Record<string, { post: ContractOperation }>;
  components: Record<string, Record<string, unknown>>;
}

export interface Contract {
  document: Document;
  /** Its path, for error messages. */
  file: string;
  text: string;
}

export class ContractFault extends OperatorFault {}

/** The nearest folder above this file that has generated/: the project, or dist/. A bundle moves this file to another depth. */
export const projectRoot = nearestRoot(import.meta.dirname);
export const bundleFile = join(projectRoot, 'generated', 'openapi.json');

function nearestRoot(folder: string): string {
  const parent = dirname(folder);
  return existsSync(join(folder, 'generated')) || parent === folder ? folder : nearestRoot(parent);
}

export function loadContract(path: string = bundleFile): Contract {
  const file = relative(process.cwd(), path);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new ContractFault(`There is no contract at ${file}. Run: npm run generate`);
  }
  try {
    return { document: JSON.parse(text) as Document, file, text };
  } catch (error) {
    throw new ContractFault(`${file} is not valid JSON (${String(error)}). Run: npm run generate`);
  }
}

/** The value at a JSON pointer, with or without the leading #. */
export function valueAt(document: object, pointer: string): unknown {
  let value: unknown = document;
  for (const part of pointer.replace(/^#/, '').split('/').slice(1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    value = value === null || typeof value !== 'object' ? undefined : (value as Record<string, unknown>)[key];
  }
  return value;
}

export function resolve<T>(document: object, node: T | { $ref: string }): T {
  let value: unknown = node;
  while (typeof value === 'object' && value !== null && '$ref' in value && typeof value.$ref === 'string') {
    value = valueAt(document, value.$ref);
  }
  return value as T;
}

export interface OperationEntry {
  operation: ContractOperation;
  method: string;
  path: string;
  /** Where the contract has it: a JSON pointer without the leading #. */
  pointer: string;
}

export const operationsOf = (document: Document): OperationEntry[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      operation,
      method,
      path,
      pointer: `/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method}`,
    })),
  );

export const hasBody = ({ paths }: Document, { path, method }: { path: string; method: string }): boolean =>
  paths[path]?.[method]?.requestBody !== undefined;

// The example responses of the contract, for operations that have no implementation yet.

export function createExamples(document: Document): <Id extends OperationId>(id: Id) => Result<Id> {
  const answers = new Map(
    operationsOf(document).map(({ operation }) => {
      const [status, declared] =
        Object.entries(operation.responses).find(([code]) => code.startsWith('2')) ?? [];
      const media = declared && resolve(document, declared).content?.['application/json'];
      const [name, example] = Object.entries(media?.examples ?? {})[0] ?? [];
      const body = example && resolve<{ value?: unknown }>(document, example).value;
      return [
        operation.operationId,
        { status: Number(status), body, headers: { 'X-Contract-Example': name ?? 'no_content' } },
      ];
    }),
  );
  // Safe: the lint has validated the examples against the schemas from which `Result` is generated.
  return <Id extends OperationId>(id: Id) => structuredClone(answers.get(id)) as unknown as Result<Id>;
}

// The contract as others get it. Ours closes all objects, so that a column that leaks into an answer is caught. But a minor
// version may add a field to answers and events, and a validator made from the published contract must accept it.
const closing = ['additionalProperties', 'unevaluatedProperties'];

/** Removes these keywords where no request reaches them. `true` instead would give generated clients an index signature. */
export function publish(document: Document): Document {
  const closed = new Set<unknown>();
  const keepClosed = (node: unknown) => {
    if (typeof node !== 'object' || node === null || closed.has(node)) return;
    closed.add(node);
    keepClosed(resolve(document, node));
    for (const part of Object.values(node)) keepClosed(part);
  };
  for (const { operation } of operationsOf(document))
    keepClosed([operation.parameters, operation.requestBody]);
  // The specification allows it no other properties.
  closed.add(document.components.schemas?.ApiKeyPairCollection);
  const open = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(open);
    if (typeof node !== 'object' || node === null) return node;
    const isClosed = closed.has(node);
    return Object.fromEntries(
      Object.entries(node)
        .filter(([key, value]) => isClosed || value !== false || !closing.includes(key))
        .map(([key, value]) => [key, open(value)]),
    );
  };
  return open(document) as Document;
}
