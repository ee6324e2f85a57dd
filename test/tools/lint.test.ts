// The command line of `npm run lint`. What it says about a contract is tested in test/contract.
import { appendFile, cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lintContract } from '../../scripts/lint/contract.ts';
import { root } from '../../scripts/support/root.ts';
import { brokenProject, swap } from '../support/contract-copy.ts';
import { run, runNode } from '../support/processes.ts';

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
  expect(output).toMatch(/^✗ The contract has faults \(.* s\)\n/);
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

it('deletes all unused components at once, but neither a path that is not mapped nor what that uses', async () => {
  const unused = {
    'components/schemas/One.yaml': () => 'type: array\nitems: { $ref: ./Two.yaml }\n',
    'components/schemas/Two.yaml': () => 'type: string\n',
  };
  const kept = {
    'components/schemas/Three.yaml': () => 'type: string\n',
    'paths/notes.yaml': () => 'get: { x: { $ref: ../components/schemas/Three.yaml } }\n',
  };
  await using project = await brokenProject({ ...unused, ...kept }, refunds);
  const { output } = await lint(project.folder, '--delete-unused');
  expect(output.match(/^Deleted .*/gm)).toEqual(Object.keys(unused).map((name) => `Deleted openapi/${name}`));
  expect(output).toContain('Map it in openapi/openapi.yaml');
  expect(output).toContain('\n1 problem\n');
});

it('checks the contract alone, unless other checks are named', async () => {
  await using project = await brokenProject({}, refunds);
  const { status, output } = await lint(project.folder);
  expect(output).toMatch(
    /^✓ The contract keeps the house rules, and its examples match their schemas \(.* s\)\n$/,
  );
  expect(status).toBe(0);
});

it('checks the format of what is new or changed since all files were formatted, wherever the folder is', async () => {
  await using project = await brokenProject({}, refunds);
  let { folder } = project;
  await cp(join(root, '.prettierrc.json'), join(folder, '.prettierrc.json'));
  await writeFile(join(folder, '.gitignore'), 'scripts/\nserver/\nnode_modules\n.cache/\n');
  await run('git', ['init', '--quiet'], { cwd: folder });
  const answer = async () => (await lint(folder, '--format')).output;
  const formatted = (files: string) =>
    expect.stringMatching(new RegExp(`^✓ Every file is formatted \\(new or changed: ${files}\\)`)) as string;
  expect(await answer()).toEqual(formatted('\\d{2,}'));
  expect(await answer()).toEqual(formatted('0'));

  await using moved = await brokenProject({}, refunds);
  const filter = (from: string) => !from.endsWith('node_modules');
  await cp(folder, moved.folder, { recursive: true, filter });
  ({ folder } = moved);
  expect(await answer()).toEqual(formatted('0'));

  const status = join(folder, 'openapi/components/schemas/Status.yaml');
  const text = await readFile(status, 'utf8');
  await writeFile(status, text.replace('[open, closed]', '[ open,closed ]'));
  for (const again of ['once', 'and again'])
    expect(await answer(), again).toMatch(
      /^✗ Not every file is formatted [^]*\n\[warn\] openapi\/components\/schemas\/Status\.yaml\n/,
    );
  await writeFile(status, text.replace('[open, closed]', '[open, closed, lost]'));
  expect(await answer()).toEqual(formatted('1'));

  await writeFile(join(folder, '.prettierrc.json'), '{ "singleQuote": false }\n');
  expect(await answer()).toMatch(/^✗ Not every file is formatted/);
});

it('refuses an option that does not exist, and shows those that do', async () => {
  const { status, output } = await lint(root, '--contrct');
  expect(status).toBe(2);
  expect(output).toContain("Unknown option '--contrct'");
  expect(output).toContain('--contract');
});
