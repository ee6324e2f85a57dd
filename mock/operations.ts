// The operations of the contract. Read from the document and not from generated/operations.ts, because the mock reloads the
// contract when it changes and an import cannot be reloaded.
import type { OperationId } from '../generated/operations.ts';
import {
  operationsOf,
  resolve,
  type ContractOperation,
  type Document,
  type Parameter,
} from '../server/kit/contract/load.ts';

export interface ResponseExample {
  status: number;
  /** The name of the example. */
  example: string;
  value: unknown;
}

export interface MockOperation {
  id: OperationId;
  method: string;
  path: string;
  /** A token needs one of these. */
  scopes: readonly string[];
  merchantScope: 'none' | 'one' | 'many';
  hasBody: boolean;
  /** Whether it takes an Idempotency-Key. */
  takesKey: boolean;
  statuses: readonly number[];
  successStatus: number;
  /** By name. */
  requestExamples: ReadonlyMap<string, unknown>;
  /** In the contract's order. */
  responseExamples: readonly ResponseExample[];
}

interface ExtendedOperation extends ContractOperation {
  security?: Record<string, string[]>[];
  'x-merchant-scope'?: MockOperation['merchantScope'];
}

export function mockOperations(document: Document): MockOperation[] {
  const values = (examples: Record<string, object> | undefined) =>
    Object.entries(examples ?? {}).map(
      ([name, example]) => [name, resolve<{ value?: unknown }>(document, example).value] as const,
    );
  return operationsOf(document).map(({ operation, method, path }) => {
    const { security = [], 'x-merchant-scope': merchantScope = 'none' }: ExtendedOperation = operation;
    const { operationId, requestBody, responses, parameters = [] } = operation;
    const statuses = Object.keys(responses).map(Number);
    return {
      // After a reload the contract may have operations that generated/ does not list yet; they are served too.
      id: operationId as OperationId,
      method,
      path,
      scopes: security.flatMap((alternative) => Object.values(alternative).flat()),
      merchantScope,
      hasBody: requestBody !== undefined,
      takesKey: parameters.some((one) => resolve<Parameter>(document, one).name === 'Idempotency-Key'),
      statuses,
      successStatus: statuses.find((status) => status >= 200 && status < 300) ?? 200,
      requestExamples: new Map(values(requestBody?.content['application/json'].examples)),
      responseExamples: Object.entries(responses).flatMap(([status, response]) =>
        values(resolve(document, response).content?.['application/json'].examples).map(
          ([example, value]) => ({ status: Number(status), example, value }),
        ),
      ),
    };
  });
}

export const successExamples = ({ responseExamples, successStatus }: MockOperation): ResponseExample[] =>
  responseExamples.filter(({ status }) => status === successStatus);

/** Commands to try, with the list that has the most to show: its answer, and a refusal of it. None if no list can be called as it is. */
export function firstCalls(operations: readonly MockOperation[], url: string): string[] {
  const lists = operations.filter(({ method, path }) => method === 'get' && !path.includes('{'));
  const [list] = lists.sort((a, b) => successExamples(b).length - successExamples(a).length);
  if (!list) return [];
  const refusal = list.statuses.findLast((status) => status < 500);
  return ['', ` -H 'Prefer: code=${refusal}'`].map(
    (header) => `curl -H 'Authorization: Bearer anything'${header} ${url}${list.path}`,
  );
}
