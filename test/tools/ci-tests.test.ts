// .ci/tests.js decides whether a run is green. Here it runs in a small project with a test script and tests of its own.
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, run } from '../support/processes.ts';

const test = (name: string, body = '') => `it('${name}', async () => {\n${body}\n});\n`;
/** `body` runs only in the first of several runs. */
const once = (body: string) =>
  `const isFirst = !existsSync(import.meta.filename + '.ran');
writeFileSync(import.meta.filename + '.ran', '');
if (isFirst) { ${body} }`;
const fails = "throw new Error('on purpose');";
/** Beside the tests, which pass. */
const rejects = "void Promise.reject(new Error('nobody waits for this'));\nawait setImmediate();";

/** The tests of each case, below a folder of its name. */
const cases = {
  green: { 'a.test.ts': test('passes'), 'left-out/b.test.ts': test('is not run', fails) },
  flaky: { 'a.test.ts': test('fails once', once(fails)) },
  'flaky-and-rejecting': {
    'a.test.ts': test('fails once', once(fails)),
    'b.test.ts': test('passes', rejects),
  },
  'rejecting-again': { 'a.test.ts': test('fails, then rejects', `${once(fails)}\n${rejects}`) },
  skipped: { 'a.test.ts': "describe('all', () => { it.skip('skips', () => undefined); });" },
  todo: { 'a.test.ts': `${test('passes')}describe('all', () => { it.todo('is not written'); });` },
};

const imports = `import { existsSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { describe, it } from 'vitest';
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ci-tests-'));
  const files: Record<string, string> = {
    'package.json': JSON.stringify({
      type: 'module',
      scripts: { test: "vitest run --exclude '**/left-out/**'" },
    }),
    'vitest.config.ts': `export default { test: { dir: 'test', reporters: ['default', './test/support/todo-reporter.ts'] } };`,
    // Runs beside a file that failed.
    'test/service/mock/parity.filters.test.ts': imports + test('is the load'),
  };
  for (const [name, tests] of Object.entries(cases))
    for (const [file, code] of Object.entries(tests)) files[`test/${name}/${file}`] = imports + code;
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  for (const part of ['.ci', 'test/support/ci-reporter.ts', 'test/support/todo-reporter.ts'])
    await cp(join(root, part), join(folder, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(() => rm(folder, { recursive: true }));

const runTests = (name: keyof typeof cases) =>
  run(process.execPath, ['.ci/tests.js', 'test', '--dir', `test/${name}`], {
    cwd: folder,
    env: { UNSTABLE: join(folder, 'unstable'), SEED: '7' },
  });

describe('.ci/tests.js', () => {
  it('is green if the tests of the script in package.json pass', async () => {
    const { status, output } = await runTests('green');
    expect([status, output]).toEqual([0, expect.stringContaining('Tests  1 passed')]);
  });

  it('is green if a file that failed passes three times, and reports it', async () => {
    const { status, output } = await runTests('flaky');
    expect([status, output]).toEqual([0, expect.stringContaining('(3 of 3)')]);
    expect(await readFile(join(folder, 'unstable'), 'utf8')).toBe('test/flaky/a.test.ts (SEED=7)\n');
  });

  it.each([
    ['flaky-and-rejecting', 'Errors outside of tests: 1. See above.'],
    ['rejecting-again', 'test/rejecting-again/a.test.ts failed again.'],
    ['skipped', 'Skipped, and not in .ci/skipped.txt:\n  test/skipped/a.test.ts: all > skips'],
    ['todo', 'To do:\n  test/todo/a.test.ts: all > is not written'],
  ] as const)('is red: %s', async (name, reason) => {
    const { status, output } = await runTests(name);
    expect([status, output]).toEqual([1, expect.stringContaining(`\n${reason}\n`)]);
  });
});

it('npm test accepts a test that is still to do, and lists it', async () => {
  const { status, output } = await run('npm', ['test', '--', '--dir', 'test/todo'], { cwd: folder });
  expect([status, output]).toEqual([
    0,
    expect.stringContaining('To do:\n  test/todo/a.test.ts  is not written\n'),
  ]);
});
