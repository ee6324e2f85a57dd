// The recipes of the guides, word for word, one after another in a copy of the project: what follows each of them is green.
// test/tools/nightly/recipes.test.ts runs all tests there.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cloneProject } from '../support/clone.ts';
import type { Workspace } from '../support/contract-copy.ts';
import { run } from '../support/processes.ts';
import { followRecipes, testsThere } from '../support/recipes.ts';

let made: Workspace;
let written: string[];
beforeAll(async () => {
  made = await cloneProject();
  written = await followRecipes(made.folder);
});
afterAll(() => made[Symbol.asyncDispose]());

const mustPass = async (command: string, ...args: string[]) => {
  const { status, output } = await run(command, args, { cwd: made.folder });
  expect(status, output).toBe(0);
};

it('the guides print the files of a path parameter, a reference, a filter, an error code and their tests', () => {
  expect(written).toEqual(
    expect.arrayContaining([
      'server/handlers/get-buyer.ts',
      'server/handlers/create-voucher.ts',
      'mock/outcomes/transaction-filters.ts',
      'openapi/components/schemas/ErrorCode.yaml',
      'test/service/operations/create-voucher.test.ts',
    ]),
  );
});

it('the contract keeps the house rules, and the code compiles', () =>
  mustPass('npm', 'run', 'lint', '--', '--contract', '--types'));

it('the code keeps its rules and its format', async () => {
  const edited = [...written, 'server/resources/facts.ts'];
  await mustPass('npx', 'oxlint', '--deny-warnings', ...edited.filter((file) => file.endsWith('.ts')));
  await mustPass('npx', 'prettier', '--check', ...edited);
});

it('the tests concerned are green, and leave none to do', async () => {
  const files = [
    'get-buyer',
    'create-voucher',
    'parity',
    'transaction-plans',
    'records.test',
    'change-types',
    'examples-paired',
    'operator',
  ];
  const names =
    'getBuyer|createVoucher|raw_response_code|every filter|first event|every event|^\\S+: without further data';
  const { status, output } = await testsThere(made.folder, ...files, '-t', names);
  expect(status, output).toBe(0);
  expect(output).not.toContain(' todo');
});
