// scripts/run.js: programs run from a bundle, and never from an old one.
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
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
    'scripts/generate',
    'scripts/support',
    'server/kit/contract',
    'server/kit/faults.ts',
    'redocly.yaml',
    'package.json',
  ])
    await cp(join(root, part), inFolder(part), { recursive: true });
  await symlink(join(root, 'node_modules'), inFolder('node_modules'), 'dir');
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

it('shows stacks by the lines of the TypeScript, also of errors that nobody catches', async () => {
  const thrower = `interface Gone { after: 'compiling' }

export function fail(): never {
  throw new RangeError('on purpose');
}
export const long = [${'1, '.repeat(5_000)}];
`;
  await writeFile(inFolder('server/fail.ts'), thrower);
  const words =
    "import { fail, long } from './fail.ts';\nexport const word: () => never = () => fail();\nword();\nlong.pop();\n";
  await writeFile(inFolder('server/word.ts'), words);
  const { status, stderr } = await start();
  expect(status).toBe(1);
  expect(stderr).toContain('RangeError: on purpose\n');
  expect(stderr).toContain(`at fail (${inFolder('server/fail.ts')}:4:9)`);
  expect(stderr).toContain(`${inFolder('server/word.ts')}:2:`);
  expect(stderr).not.toMatch(/at .*\.cache/);
  // Node prints the line of the bundle, too.
  expect(stderr.length).toBeLessThan(2_000);
});

it('has a source map, with which a debugger finds the TypeScript', async () => {
  const { folder: made } = JSON.parse(await record()) as { folder: string };
  const bundle = join(made, 'server/hello.js');
  expect(await readFile(bundle, 'utf8')).toMatch(/\n\/\/# sourceMappingURL=hello\.js\.map\s*$/);
  const { sources } = JSON.parse(await readFile(`${bundle}.map`, 'utf8')) as { sources: string[] };
  expect(sources.map((source) => join(bundle, '..', source))).toContain(inFolder('server/word.ts'));
});

it('says where a file cannot be compiled, and does not run what was there before', async () => {
  await writeFile(inFolder('server/word.ts'), 'export const word = ;\n');
  const { status, output } = await start();
  expect(status).toBe(1);
  expect(output).toContain('server/word.ts:1:20');
  expect(output).not.toContain('second');
});
