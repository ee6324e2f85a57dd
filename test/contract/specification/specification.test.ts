/**
 * Holds the bundled contract against the tables of the specification and its open points: nothing missing, nothing
 * different, nothing extra that CHANGELOG.md does not name. The tables are written from those two documents, never from the
 * contract.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { adviceFor, withoutAnnounced } from './additions.ts';
import { Contract } from './document.ts';
import { promises } from './promises.ts';

let contract: Contract;

beforeAll(() => {
  contract = Contract.read(process.env['CONTRACT_FILE'] ?? 'generated/openapi.json');
});

// Loops rather than `it.each`, which cuts long names off.
for (const group of new Set(promises.map((promised) => promised.group))) {
  describe(group, () => {
    for (const { name, faults } of promises.filter((promised) => promised.group === group)) {
      it(name, () => {
        const found = withoutAnnounced(faults(contract));
        expect(found, adviceFor(found)).toEqual([]);
      });
    }
  });
}
