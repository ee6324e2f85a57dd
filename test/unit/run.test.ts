// scripts/run.js: programs run from a bundle, and never from an old one.
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { root, run } from '../support/processes.ts';

let folder: string;
const inFolder = (file: string) => join(folder, file);
const start = (...args: string[]) =>
  run(process.execPath, ['scripts/run.js', 'server/hello.ts', ...args], { cwd: folder });
const record = () => readFile(inFolder('.cache/server-hello.ts.json'), 'utf8');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'run-'));
  for (const part of [
    'scripts/run.js',
    'scripts/bundle.ts',
    'scripts/support',
    'redocly.yaml',
    'package.json',
  ])
    await cp(join(root, part), inFolder(part), { recursive: true });
  await symlink(join(root, 'node_modules'), inFolder('node_modules'), 'dir');
  await mkdir(inFolder('server'));
  await writeFile(
    inFolder('server/hello.ts'),
    "import { word } from './word.ts';\nconsole.log(word, ...process.argv.slice(2));\n",
  );
});
afterAll(() => rm(folder, { recursive: true }));

it('runs a program, with its arguments', async () => {
  await writeFile(inFolder('server/word.ts'), "export const word: string = 'first';\n");
  expect(await start('one', '--two')).toMatchObject({ status: 0, stdout: 'first one --two\n' });
});

it('uses the bundle again while nothing has changed', async () => {
  const before = await record();
  expect((await start()).stdout).toBe('first\n');
  expect(await record()).toBe(before);
});

it('bundles again when a file of the program has changed', async () => {
  await writeFile(inFolder('server/word.ts'), "export const word: string = 'second';\n");
  expect((await start()).stdout).toBe('second\n');
});

it('bundles again when the bundle is gone', async () => {
  await rm(inFolder('.cache'), { recursive: true });
  expect((await start()).stdout).toBe('second\n');
});

it('says where a file cannot be compiled, and does not run what was there before', async () => {
  await writeFile(inFolder('server/word.ts'), 'export const word = ;\n');
  const { status, output } = await start();
  expect(status).toBe(1);
  expect(output).toContain('server/word.ts:1:20');
  expect(output).not.toContain('second');
});
