// The mock reads its operations from the contract, the server from a generated table. Both must be equal.
import { describe, expect, it } from 'vitest';
import { operations, type Operation } from '../../../generated/operations.ts';
import { mockOperations } from '../../../mock/operations.ts';
import { loadContract } from '../../../server/kit/contract/load.ts';

describe('the operations that the mock reads from the contract', () => {
  it('are those of the generated table', () => {
    const pick = ({
      id,
      method,
      path,
      scopes: needed,
      merchantScope,
      statuses,
    }: Omit<Operation, 'summary'>) => ({
      ...{ id, method, path, scopes: needed, merchantScope, statuses },
    });
    const read = mockOperations(loadContract().document);
    expect(read.map((operation) => pick({ ...operations[operation.id], ...operation }))).toEqual(
      Object.values(operations).map(pick),
    );
  });
});
