// `node .ci/tests.js SCRIPT [arguments of vitest]`: runs a test script of package.json for CI, such as `test`, and decides
// whether the run is green.
// - A test that is skipped and not listed in .ci/skipped.txt with a reason ends the run. So does a test that is still to do, and an
//   error outside of tests, such as an unhandled rejection. The tests of a file whose set-up failed were not skipped: they run again.
// - A file that failed runs three times more, with the same seed and beside another file as load. If it fails once more, the run
//   ends. If not, its line for .ci/unstable.txt is printed, and added to the file $UNSTABLE.
// - A file in .ci/unstable.txt that fails ends the run at once. So does a line that is older than 14 days.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [script = 'test', ...args] = process.argv.slice(2);
const file = join(mkdtempSync(join(tmpdir(), 'payments-ci-')), 'report.json');
const load = 'test/service/mock/parity.filters.test.ts';
const separator = ' # ';

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(message);
  process.exit(1);
}

/** The lines of a list beside this file, in their parts. @param {string} name */
const readList = (name) =>
  readFileSync(join(import.meta.dirname, name), 'utf8')
    .split('\n')
    .filter((line) => /^[^#]/.test(line))
    .map((line) => line.split(separator));

const unstable = readList('unstable.txt');
const oldest = new Date(Date.now() - 14 * 86_400_000).toISOString().slice(0, 10);
const old = unstable.filter((parts) => !((parts.at(-1) ?? '') >= oldest));
if (old.length > 0)
  fail(`Longer than 14 days in .ci/unstable.txt:\n  ${old.map(([name]) => name).join('\n  ')}`);

const allowed = readList('skipped.txt').map(([beginning = '']) => beginning);
const reporters = ['default', './test/support/ci-reporter.ts'].map((name) => `--reporter=${name}`);

/** The files that failed. @param {string[]} given */
function runTests(...given) {
  const options = [...reporters, `--outputFile=${file}`, ...given];
  const { status } = spawnSync('npm', ['run', '--silent', script, '--', ...options], { stdio: 'inherit' });
  const { seed, failed, skipped, todo, errors } = JSON.parse(readFileSync(file, 'utf8'));
  const refused = skipped.filter(
    (/** @type {string} */ test) => !allowed.some((beginning) => test.startsWith(beginning)),
  );
  if (refused.length > 0) fail(`Skipped, and not in .ci/skipped.txt:\n  ${refused.join('\n  ')}`);
  if (todo.length > 0) fail(`To do:\n  ${todo.join('\n  ')}`);
  if (errors > 0) fail(`Errors outside of tests: ${errors}. See above.`);
  if (status !== 0 && failed.length === 0) fail('No test failed, but the run did.');
  return { seed, failed };
}

const { seed, failed } = runTests(...args);
const names = failed.map((/** @type {{ name: string }} */ { name }) => name);
// Many at once are no accident.
if (failed.length > 3) fail(`Failed: ${names.join(', ')}`);
const again = unstable.find(([name]) => names.includes(name));
if (again) fail(`${again[0]} failed again: it is in .ci/unstable.txt.`);
const lines = [];
for (const { name, text } of failed) {
  for (const time of [1, 2, 3]) {
    console.log(`\n── ${name} failed. It runs again beside another file (${time} of 3).`);
    if (runTests(name, load).failed.length > 0) fail(`${name} failed again.`);
  }
  lines.push([name, `SEED=${seed}`, text, new Date().toISOString().slice(0, 10)].join(separator));
}
for (const line of lines) {
  appendFileSync(process.env.UNSTABLE ?? '/dev/null', `${line}\n`);
  console.log(`For .ci/unstable.txt, with the next commit:\n${line}`);
}
