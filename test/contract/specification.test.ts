/**
 * Holds the bundled contract against the tables of the specification and its open points: nothing missing,
 * nothing extra. The tables are written from those two documents, never from the contract.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { Contract } from './specification.document.ts';
import { promises } from './specification.promises.ts';

let contract: Contract;

beforeAll(() => {
  contract = Contract.read(process.env['CONTRACT_FILE'] ?? 'generated/openapi.json');
});

describe.each([...new Set(promises.map(({ group }) => group))])('%s', (group) => {
  const promised = promises.filter((one) => one.group === group);
  it.each(promised)('$name', ({ faults }) => {
    expect(faults(contract)).toEqual([]);
  });
});
