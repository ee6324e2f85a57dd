// The parts of a bundled contract that the generators read. The house rules guarantee that the required ones exist.
import { resolve } from '../../server/kit/contract/load.ts';

export interface Parameter {
  name: string;
  in: 'query' | 'header' | 'path';
  schema: { default?: unknown };
}

export interface Window {
  limit: number;
  window_seconds: number;
}

export interface Operation {
  operationId: string;
  summary: string;
  security: Record<string, string[]>[];
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { content: { 'application/json': { schema: { properties?: Record<string, object> } } } };
  responses: Record<string, unknown>;
  'x-merchant-scope': 'none' | 'one' | 'many';
  'x-rate-limit'?: { scope: string; limit: number; window_seconds: number };
  'x-reserved'?: Record<string, string>;
}

export interface Contract {
  info: { version: string; description?: string };
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, unknown>;
  components: Record<string, Record<string, unknown>>;
}

export const operationsOf = (contract: Contract) =>
  Object.entries(contract.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );

interface ErrorBody {
  type?: string;
  code: string;
  status: number;
  message: string;
}

/** Error codes with their status and message, from the examples of the shared error responses. */
export function errorsOf(contract: Contract): Map<string, Omit<ErrorBody, 'type' | 'code'>> {
  const bodies = Object.values(contract.components.responses ?? {}).flatMap((response) => {
    const { content } = response as {
      content?: { 'application/json': { examples?: Record<string, { value: ErrorBody }> } };
    };
    return Object.values(content?.['application/json'].examples ?? {}).map(
      (example) => resolve(contract, example).value,
    );
  });
  const errors = bodies.filter(({ type }) => type === 'error').sort((a, b) => a.status - b.status);
  return new Map(errors.map(({ code, status, message }) => [code, { status, message }]));
}
