// What a run of some test files prepares for them.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { usesInjected } from '../support/uses.ts';

const file = (name: string) => join(import.meta.dirname, '..', `${name}.test.ts`);

it.each([
  ['that starts processes, through a module of test/support', ['server/start'], true],
  ['that asks for it itself', ['unit/embedded-users'], true],
  ['after others that do not', ['server/tokens', 'unit/table', 'server/start'], true],
  ['that calls the service in this process', ['server/tokens'], false],
  ['that has an import in the text of a sample', ['unit/new-plan'], false],
])('a file %s: compiled or not', async (_, names, isUsed) => {
  expect(await usesInjected('compiled', names.map(file))).toBe(isUsed);
});
