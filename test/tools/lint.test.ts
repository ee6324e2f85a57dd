// The command line of `npm run lint`. What it says about a contract is tested in test/contract.
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lintContract } from '../../scripts/lint/contract.ts';
import { root } from '../../scripts/support/root.ts';
import { brokenProject, swap } from '../support/contract-copy.ts';
import { runNode } from '../support/processes.ts';

const refunds = join(root, 'test/fixtures/refunds/openapi');
const lint = (cwd: string, ...args: string[]) => runNode('scripts/lint.ts', args, { cwd });

it('names the line of a redocly.yaml that is not YAML', async () => {
  await using project = await brokenProject({}, refunds);
  await appendFile(join(project.folder, 'redocly.yaml'), '  bad: [\n');
  const { problems } = await lintContract(project.folder);
  expect(problems).toEqual([expect.objectContaining({ rule: 'yaml-syntax', file: 'redocly.yaml' })]);
});

it('exits with 1 and names file, line and what to write, if the contract has faults', async () => {
  await using project = await brokenProject(
    {
      'components/schemas/Status.yaml': swap('enum: [open, closed]', 'enmu: [open, closed]'),
      'components/schemas/Amount.yaml': swap('type: integer', 'type: int'),
      'components/schemas/Error.yaml': swap('./ErrorCode.yaml', './ErrorCodes.yaml'),
      'components/parameters/Limit.yaml': swap('  minimum: 1', '  exclusiveMinimum: true'),
    },
    refunds,
  );
  const { status, output } = await lint(project.folder, '--contract');
  expect(status).toBe(1);
  expect(output).toMatch(
    /^✗ The contract keeps the house rules, and its examples match their schemas \(.* s\)\n/,
  );
  expect(output).toContain(
    `openapi/components/schemas/Amount.yaml:2:7 struct
  2 | type: int
    |       ^
  \`type\` can be one of the following only: "object", "array", "string", "number", "integer", "boolean", "null".`,
  );
  for (const said of [
    'Property `enmu` is not expected here. Did you mean `enum`?',
    "Can't resolve $ref ./ErrorCodes.yaml: there is no such file. Did you mean ./ErrorCode.yaml?",
    'Expected type `number` but got `boolean`.',
  ])
    expect(output).toContain(said);
  expect(output).toMatch(
    /\n4 problems\n\nEdit the files named above; each message says how\.\n\n1 of 1 failed: contract\n$/,
  );
});

it('shows what is unfinished, which is no fault yet', async () => {
  const edits = { 'components/schemas/Status.yaml': swap('of it.', 'of it. # TODO: say it') };
  await using project = await brokenProject(edits, refunds);
  const { status, output } = await lint(project.folder, '--contract');
  expect(output).toMatch(
    /^openapi\/components\/schemas\/Status\.yaml:1:33 todo\n[^]*\nUnfinished, so it cannot be released yet\.$/m,
  );
  expect(status).toBe(0);
});

it('refuses an option that does not exist, and shows those that do', async () => {
  const { status, output } = await lint(root, '--contrct');
  expect(status).toBe(2);
  expect(output).toContain("Unknown option '--contrct'");
  expect(output).toContain('--contract');
});
