// The example responses of the contract, for operations that have no implementation yet.
import type { OperationId, Result } from '../../generated/operations.ts';
import { operationsOf, resolve, type Document } from './load.ts';

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
  // Safe: prove.ts validated the examples against the schemas from which `Result` is generated.
  return <Id extends OperationId>(id: Id) => structuredClone(answers.get(id)) as unknown as Result<Id>;
}
