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
  const message = expect.stringContaining('This is not YAML: ') as string;
  expect(problems).toEqual([expect.objectContaining({ rule: 'yaml', file: 'redocly.yaml', message })]);
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

it('--json tells programs what is wrong; what is unfinished is no fault yet', async () => {
  await using project = await brokenProject(
    {
      'components/schemas/Status.yaml': swap('of it.', 'of it. # TODO: say it'),
      'components/examples/PageOfOpen.yaml': swap('next_cursor: null', 'next_cursor: 5'),
      'components/examples/CheckByNumber.yaml': swap('number:', 'numbr:'),
    },
    refunds,
  );
  const { status, output } = await lint(project.folder, '--contract', '--json');
  expect(status).toBe(1);
  const no = 'This example does not match its schema:';
  const rule = 'no-invalid-media-type-examples';
  expect(JSON.parse(output)).toMatchObject({
    ok: false,
    steps: [
      {
        ...{ id: 'contract', ok: false, fix: 'Edit the files named above; each message says how.' },
        problems: [
          {
            ...{ rule, file: 'openapi/components/examples/PageOfOpen.yaml', line: 6, column: 3 },
            message: `${no} \`next_cursor\` must be string or null.`,
          },
          { rule, line: 2, message: `${no} it lacks \`refund_id\`; it lacks \`number\`.` },
          { rule, line: 3, message: `${no} the schema has no \`numbr\`.` },
        ],
        unfinished: [{ rule: 'todo', file: 'openapi/components/schemas/Status.yaml', line: 1, column: 33 }],
      },
    ],
  });
});

it('refuses an option that does not exist, and shows those that do', async () => {
  const { status, output } = await lint(root, '--contrct');
  expect(status).toBe(2);
  expect(output).toContain("Unknown option '--contrct'");
  expect(output).toContain('--contract');
});
