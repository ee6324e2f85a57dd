// `node .ci/tests.js SCRIPT [arguments of vitest]`: runs a test script of package.json for CI, such as `test`, and decides
// whether the run is green.
// - A test that is skipped and not listed in .ci/skipped.txt with a reason ends the run. So does a test that is still to do, and an
//   error outside of tests, such as an unhandled rejection.
// - A file that failed runs three times more, with the same seed and beside another file as load. If it fails once more, the run
//   ends; if not, it is added to the file $UNSTABLE, which the run prints last.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [script = 'test', ...args] = process.argv.slice(2);
const file = join(mkdtempSync(join(tmpdir(), 'payments-ci-')), 'report.json');
const load = 'test/service/mock/parity.filters.test.ts';

/** @param {string[]} given */
const vitest = (...given) =>
  spawnSync('npm', ['run', '--silent', script, '--', ...given], { stdio: 'inherit' }).status;

/** @param {string} message */
function fail(message) {
  console.error(message);
  process.exit(1);
}

const reporters = ['default', './test/support/ci-reporter.ts'].map((name) => `--reporter=${name}`);
const status = vitest(...reporters, `--outputFile=${file}`, ...args);

const { failed, skipped, todo, errors } = JSON.parse(readFileSync(file, 'utf8'));

const allowed = readFileSync(join(import.meta.dirname, 'skipped.txt'), 'utf8')
  .split('\n')
  .filter((line) => /^[^#]/.test(line))
  .map((line) => line.split(' # ')[0] ?? line);
const refused = skipped.filter(
  (/** @type {string} */ test) => !allowed.some((beginning) => test.startsWith(beginning)),
);
if (refused.length > 0) fail(`Skipped, and not in .ci/skipped.txt:\n  ${refused.join('\n  ')}`);
if (todo.length > 0) fail(`To do:\n  ${todo.join('\n  ')}`);
if (errors > 0) fail(`Errors outside of tests: ${errors}. See above.`);
if (status !== 0 && failed.length === 0) fail('No test failed, but the run did.');
// Many at once are no accident.
if (failed.length > 3) fail(`Failed: ${failed.join(', ')}`);
for (const name of failed) {
  for (const time of [1, 2, 3]) {
    console.log(`\n── ${name} failed. It runs again beside another file (${time} of 3).`);
    if (vitest(name, load) !== 0) fail(`${name} failed again.`);
  }
  appendFileSync(process.env.UNSTABLE ?? '/dev/null', `${name} (SEED=${process.env.SEED})\n`);
}
