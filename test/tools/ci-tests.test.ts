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
/** It fails in the first run, the third and so on. */
const failsEverySecondTime = `const runs = import.meta.filename + '.runs';
appendFileSync(runs, 'x');
if (readFileSync(runs).length % 2 === 1) { ${fails} }`;
/** Beside the tests, which pass. */
const rejects = "void Promise.reject(new Error('nobody waits for this'));\nawait setImmediate();";

/** The tests of each case, below a folder of its name. */
const cases = {
  flaky: {
    'a.test.ts': test('fails once', once(fails)),
    'b.test.ts': test('passes'),
    'left-out/c.test.ts': test('is not run by the script of package.json', fails),
  },
  'no-set-up': { 'a.test.ts': `beforeAll(() => {\n${once(fails)}\n});\n${test('passes')}` },
  'skipped-again': {
    'a.test.ts': `beforeAll(() => {\n${once(fails)}\n});\nit.skip('skips', () => undefined);\n${test('passes')}`,
  },
  'skipped-once': {
    'a.test.ts': `const isFirst = !existsSync(import.meta.filename + '.ran');
it('fails once', () => { writeFileSync(import.meta.filename + '.ran', ''); if (isFirst) { ${fails} } });
it('skips once', ({ skip }) => { if (isFirst) skip(); });`,
  },
  listed: { 'a.test.ts': test('fails once', once(fails)) },
  'every-second-time': { 'a.test.ts': test('fails every second time', failsEverySecondTime) },
  'flaky-and-rejecting': {
    'a.test.ts': test('fails once', once(fails)),
    'b.test.ts': test('passes', rejects),
  },
  skipped: { 'a.test.ts': "describe('all', () => { it.skip('skips', () => undefined); });" },
  todo: { 'a.test.ts': `${test('passes')}describe('all', () => { it.todo('is not written'); });` },
};

const imports = `import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, describe, it } from 'vitest';
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ci-tests-'));
  const files: Record<string, string> = {
    'package.json': JSON.stringify({
      type: 'module',
      scripts: { test: "vitest run --exclude '**/left-out/**'" },
    }),
    'vitest.config.ts': `export default { test: { dir: 'test', globalSetup: 'seed.ts', reporters: ['default', './test/support/todo-reporter.ts'] } };`,
    'seed.ts': "export default (project) => project.provide('seed', 7);",
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
  await list('test/listed/a.test.ts', 14);
});
afterAll(() => rm(folder, { recursive: true }));

const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
const list = (file: string, days: number) =>
  writeFile(join(folder, '.ci/unstable.txt'), `# Why\n${file} # SEED=7 # on purpose # ${dayBefore(days)}\n`);

const runTests = (name: keyof typeof cases) =>
  run(process.execPath, ['.ci/tests.js', 'test', '--dir', `test/${name}`], {
    cwd: folder,
    env: { UNSTABLE: join(folder, 'unstable') },
  });

describe('.ci/tests.js', () => {
  it('is green if a file that failed passes three times, and prints its line last', async () => {
    const { status, output } = await runTests('flaky');
    expect([status, output]).toEqual([0, expect.stringContaining('(3 of 3)')]);
    const line = `test/flaky/a.test.ts # SEED=7 # on purpose # ${dayBefore(0)}\n`;
    expect(output.endsWith(`For .ci/unstable.txt, with the next commit:\n${line}`)).toBe(true);
    expect(await readFile(join(folder, 'unstable'), 'utf8')).toBe(line);
  });

  it('is green if a file passes three times whose set-up failed', async () => {
    const { status, output } = await runTests('no-set-up');
    expect([status, output]).toEqual([0, expect.stringContaining('(3 of 3)')]);
  });

  it.each([
    ['every-second-time', 'test/every-second-time/a.test.ts failed again.'],
    ['listed', 'test/listed/a.test.ts failed again: it is in .ci/unstable.txt.'],
    ['flaky-and-rejecting', 'Errors outside of tests: 1. See above.'],
    ['skipped', 'Skipped, and not in .ci/skipped.txt:\n  test/skipped/a.test.ts: all > skips'],
    ['skipped-again', 'Skipped, and not in .ci/skipped.txt:\n  test/skipped-again/a.test.ts: skips'],
    ['skipped-once', 'Skipped, and not in .ci/skipped.txt:\n  test/skipped-once/a.test.ts: skips once'],
    ['todo', 'To do:\n  test/todo/a.test.ts: all > is not written'],
  ] as const)('is red: %s', async (name, reason) => {
    const { status, output } = await runTests(name);
    expect([status, output]).toEqual([1, expect.stringContaining(`\n${reason}\n`)]);
  });
});

it('is red for a line that is older than 14 days', async () => {
  await list('test/flaky/a.test.ts', 15);
  const { status, output } = await runTests('flaky');
  expect([status, output]).toEqual([1, 'Longer than 14 days in .ci/unstable.txt:\n  test/flaky/a.test.ts\n']);
});

it('npm test accepts a test that is still to do, and lists it', async () => {
  const { status, output } = await run('npm', ['test', '--', '--dir', 'test/todo'], { cwd: folder });
  expect([status, output]).toEqual([
    0,
    expect.stringContaining('To do:\n  test/todo/a.test.ts  is not written\n'),
  ]);
});
