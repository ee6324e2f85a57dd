// The operations of a contract as the mock needs them. Read from the document and not from generated/operations.ts: the
// contract is read again when it changes, an import is not.
import type { OperationId } from '../generated/operations.ts';
import { operationsOf, resolve, type ContractOperation, type Document } from '../server/contract/load.ts';

export interface Answer {
  status: number;
  /** The name of the example. */
  example: string;
  value: unknown;
}

export interface MockOperation {
  id: OperationId;
  method: string;
  path: string;
  /** Alternatives: one of them is enough. */
  scopes: readonly string[];
  merchantScope: 'none' | 'one' | 'many';
  hasBody: boolean;
  statuses: readonly number[];
  /** The status of success. */
  success: number;
  /** The named examples of requests. */
  requests: ReadonlyMap<string, unknown>;
  /** The named examples of answers, in the contract's order. */
  answers: readonly Answer[];
}

interface Described extends ContractOperation {
  security?: Record<string, string[]>[];
  'x-merchant-scope'?: MockOperation['merchantScope'];
}

export function mockOperations(document: Document): MockOperation[] {
  const values = (examples: Record<string, object> | undefined) =>
    Object.entries(examples ?? {}).map(
      ([name, example]) => [name, resolve<{ value?: unknown }>(document, example).value] as const,
    );
  return operationsOf(document).map(({ operation, method, path }) => {
    const { security = [], 'x-merchant-scope': merchantScope = 'none' }: Described = operation;
    const { operationId, requestBody, responses } = operation;
    const statuses = Object.keys(responses).map(Number);
    return {
      // One that this build does not know yet is served all the same.
      id: operationId as OperationId,
      method,
      path,
      scopes: security.flatMap((alternative) => Object.values(alternative).flat()),
      merchantScope,
      hasBody: requestBody !== undefined,
      statuses,
      success: statuses.find((status) => status >= 200 && status < 300) ?? 200,
      requests: new Map(values(requestBody?.content['application/json'].examples)),
      answers: Object.entries(responses).flatMap(([status, response]) =>
        values(resolve(document, response).content?.['application/json'].examples).map(
          ([example, value]) => ({ status: Number(status), example, value }),
        ),
      ),
    };
  });
}

/** The examples of success. */
export const successes = ({ answers, success }: MockOperation): Answer[] =>
  answers.filter(({ status }) => status === success);
