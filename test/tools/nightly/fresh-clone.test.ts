// generated/validators.js is not in Git. Whichever command comes first in a clone makes it, and makes it anew when it is out of date.
import { existsSync } from 'node:fs';
import { appendFile, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cloneProject } from '../../support/clone.ts';
import type { Workspace } from '../../support/contract-copy.ts';
import { root, run } from '../../support/processes.ts';
import { shareOf } from '../../support/random.ts';

let workspace: Workspace;
let clone: string;
const inClone = (file: string) => join(clone, file);
const validators = () => readFile(inClone('generated/validators.js'), 'utf8');
const there = (command: string) => {
  const [program = '', ...args] = command.split(' ');
  return run(program, args, { cwd: clone });
};
const payments = 'npm run -s payments -- --version';

beforeAll(async () => {
  workspace = await cloneProject();
  clone = workspace.folder;
  // Or else a start builds the docs.
  for (const built of ['site', 'pages']) await symlink(join(root, built), inClone(built), 'dir');
});
afterAll(() => workspace[Symbol.asyncDispose]());

// Each starts several processes.
describe('in a fresh clone', () => {
  beforeEach(async () => {
    for (const made of ['generated/validators.js', '.cache'])
      await rm(inClone(made), { recursive: true, force: true });
  });

  const commands = [
    payments,
    'npm run -s mock -- --help',
    // As VS Code starts it: the bundle plays no part.
    'node --import tsx --import ./scripts/make-validators.ts server/cli/main.ts --version',
    'npm run -s test -- test/unit/json-items.test.ts',
  ];
  it.each(shareOf(commands))('%s makes the validators that this project has', async (command) => {
    expect(await there(command)).toMatchObject({ status: 0 });
    expect((await validators()) === (await readFile(join(root, 'generated/validators.js'), 'utf8'))).toBe(
      true,
    );
  });

  it('the check of what is generated does not miss them, and writes nothing', async () => {
    const { status, output } = await there('npm run -s generate -- --check');
    expect([status, output]).toEqual([0, '✓ Generated code matches the contract\n']);
    expect(existsSync(inClone('generated/validators.js'))).toBe(false);
  });

  it('two commands at once do not disturb each other', async () => {
    const commands = [payments, 'npm run -s mock -- --help', payments];
    const ended = await Promise.all(commands.map(there));
    expect(ended.map(({ status, output }) => [status, status === 0 ? '' : output])).toEqual(
      commands.map(() => [0, '']),
    );
    expect((await readdir(inClone('generated'))).filter((file) => file.startsWith('validators.js'))).toEqual([
      'validators.js',
    ]);
  });
});

describe('later', () => {
  const madeBy = async (command: string) => {
    const before = (await stat(inClone('generated/validators.js'))).ino;
    expect(await there(command)).toMatchObject({ status: 0 });
    return (await stat(inClone('generated/validators.js'))).ino !== before;
  };
  beforeAll(() => there(payments));

  it('they are left alone, even by a new bundle and if a checkout has changed the times of all files', async () => {
    await rm(inClone('.cache'), { recursive: true });
    await there('touch generated/openapi.json server/kit/contract/ajv.ts');
    expect(await madeBy(payments)).toBe(false);
  });

  it.each([
    ['the contract', 'generated/openapi.json', '\n'],
    ['the code that makes them', 'server/kit/contract/ajv.ts', '// Other words.\n'],
  ])('they are made anew after a change of %s', async (_, file, text) => {
    await appendFile(inClone(file), text);
    expect(await madeBy(payments)).toBe(true);
    expect(await madeBy(payments)).toBe(false);
    await writeFile(inClone(file), await readFile(join(root, file)));
    expect(await madeBy('npm run -s test -- test/unit/json-items.test.ts')).toBe(true);
  });

  it('they are made anew if a part of them is lost', async () => {
    const whole = await validators();
    await writeFile(inClone('generated/validators.js'), whole.slice(0, whole.length / 2));
    expect(await there(payments)).toMatchObject({ status: 0 });
    expect((await validators()) === whole).toBe(true);
  });

  it('a change of the contract is one of all tests, though Git sees no other file that they import', async () => {
    const git = 'git -c user.name=x -c user.email=x@example.com';
    for (const command of ['init -q', 'add .', 'commit -q -m x']) await there(`${git} ${command}`);
    const tests = async () =>
      (await there('node_modules/.bin/vitest list --filesOnly --changed')).stdout.match(/\S+\.test\.ts/g) ??
      [];
    expect(await tests()).toEqual([]);
    await appendFile(inClone('generated/openapi.json'), '\n');
    expect(await tests()).toContain('test/contract/compiled-validators.test.ts');
  });
});
