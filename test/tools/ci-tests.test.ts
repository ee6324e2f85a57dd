// .ci/tests.js decides whether a run is green. Here it runs in a small project with a test script and tests of its own.
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { root, run } from '../support/processes.ts';

const passes = "it('passes', () => undefined);\n";

/** The tests of each case, in a file of its own. */
const cases = {
  passes,
  failed: `${passes}it('fails', () => { throw new Error('on purpose'); });`,
  'no-set-up': `beforeAll(() => { throw new Error('on purpose'); });\n${passes}`,
  skipped: "describe('all', () => { it.skip('skips', () => undefined); });",
  listed: `${passes}it.skip('skips for a reason', () => undefined);`,
  todo: `${passes}describe('all', () => { it.todo('is not written'); });`,
  rejecting:
    "it('passes', async () => { void Promise.reject(new Error('unheard')); await setImmediate(); });",
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ci-tests-'));
  const imports = `import { setImmediate } from 'node:timers/promises';\nimport { beforeAll, describe, it } from 'vitest';\n`;
  const files: Record<string, string> = {
    'package.json': JSON.stringify({ type: 'module', scripts: { test: 'vitest run' } }),
    'vitest.config.ts': `export default { test: { dir: 'test', globalSetup: 'seed.ts', reporters: ['default', './test/support/todo-reporter.ts'] } };`,
    'seed.ts': "export default (project) => project.provide('seed', 7);",
  };
  for (const [name, code] of Object.entries(cases)) files[`test/${name}.test.ts`] = imports + code;
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  for (const part of ['.ci', 'test/support/ci-reporter.ts', 'test/support/todo-reporter.ts'])
    await cp(join(root, part), join(folder, part), { recursive: true });
  await writeFile(join(folder, '.ci/skipped.txt'), '# Why\ntest/listed.test.ts: skips # for a reason\n');
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The end of the output, from the first reason on. */
const tests = async (...names: (keyof typeof cases)[]) => {
  const files = names.map((name) => `test/${name}.test.ts`);
  const { status, stderr } = await run(process.execPath, ['.ci/tests.js', 'test', ...files], { cwd: folder });
  return [status, stderr.slice(stderr.search(/^(Skipped, and|To do:|Errors outside|The tests failed)/m))];
};

it('.ci/tests.js is green if tests pass, or are skipped for a reason that is listed', async () => {
  expect(await tests('passes', 'listed')).toEqual([0, '']);
});

it.each([
  [
    'tests that fail, or are not set up',
    ['failed', 'no-set-up'],
    'The tests failed, with SEED=7. See above.',
  ],
  ['skipped', ['skipped'], 'Skipped, and not in .ci/skipped.txt:\n  test/skipped.test.ts: all > skips'],
  ['still to do', ['todo'], 'To do:\n  test/todo.test.ts: all > is not written'],
  [
    'an error outside of tests',
    ['rejecting'],
    'Errors outside of tests: 1. See above.\nThe tests failed, with SEED=7. See above.',
  ],
] as const)('.ci/tests.js is red: %s', async (_, names, reasons) => {
  expect(await tests(...names)).toEqual([1, `${reasons}\n`]);
});

it('npm test accepts a test that is still to do, and lists it', async () => {
  const { status, output } = await run('npm', ['test', '--', 'test/todo.test.ts'], { cwd: folder });
  expect([status, output]).toEqual([
    0,
    expect.stringContaining('To do:\n  test/todo.test.ts  is not written\n'),
  ]);
});

it('npm run test:nightly goes on after a part that fails, and ends with a table', async () => {
  for (const part of [
    'scripts/nightly.ts',
    'scripts/nightly/needs.ts',
    'scripts/support/root.ts',
    'redocly.yaml',
  ])
    await cp(join(root, part), join(folder, part));
  const code = (text: string) => `steps: () => [{ command: ['node', '--eval', '${text}'] }]`;
  await writeFile(
    join(folder, 'scripts/nightly/parts.ts'),
    `export const parts = [
      { name: 'red', claim: 'is false', ${code('process.exit(3)')} },
      { name: 'other', claim: 'lacks a program', needs: [{ what: 'a program', isThere: () => false }] },
      { name: 'green', claim: 'is true', ${code('console.log("ran")')} },
    ];`,
  );
  const nightly = (...args: string[]) =>
    run(process.execPath, ['--import', 'tsx', 'scripts/nightly.ts', ...args], { cwd: folder });
  const table = await nightly();
  expect([table.status, table.stdout.replace(/\d+$/gm, 'N')]).toEqual([
    1,
    `ran

part   result                    seconds
red    failed                    N
other  not run: needs a program  N
green  passed                    N
`,
  ]);
  const { status, stdout, stderr } = await nightly('--json');
  expect([status, stderr]).toEqual([1, expect.stringContaining('\nran\n')]);
  expect(JSON.parse(stdout)).toMatchObject([
    { part: 'red', result: 'failed' },
    { part: 'other', result: 'not run: needs a program' },
    { part: 'green', result: 'passed' },
  ]);
});
