// `node .ci/tests.js [arguments of vitest]`: runs tests for CI and decides whether the run is green.
// - A test that is skipped and not listed in .ci/skipped.txt with a reason ends the run.
// - A file that failed runs three times more, with the same seed and beside another file as load. If it fails once more, the run
//   ends; if not, it is added to the file $UNSTABLE, which the run prints last.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const args = process.argv.slice(2);
const report = join(mkdtempSync(join(tmpdir(), 'payments-ci-')), 'report.json');
const load = 'test/service/mock/parity.filters.test.ts';

/** @param {string[]} given */
const vitest = (...given) =>
  spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...given], { stdio: 'inherit' })
    .status;

/** @param {string} message */
function fail(message) {
  console.error(message);
  process.exit(1);
}

const reporters = ['default', './test/support/todo-reporter.ts', 'json'].map((name) => `--reporter=${name}`);
const status = vitest(...reporters, `--outputFile.json=${report}`, ...args);

const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
const named = testResults.map((/** @type {any} */ { name, ...result }) => ({
  name: relative('.', name),
  ...result,
}));

const allowed = readFileSync(join(import.meta.dirname, 'skipped.txt'), 'utf8')
  .split('\n')
  .filter((line) => /^[^#]/.test(line));
const skipped = named.flatMap((/** @type {any} */ { name, assertionResults }) =>
  assertionResults
    .filter((/** @type {any} */ test) => ['skipped', 'pending'].includes(test.status))
    .map((/** @type {any} */ test) => `${name}: ${test.fullName}`)
    .filter(
      (/** @type {string} */ test) => !allowed.some((line) => test.startsWith(line.split(' # ')[0] ?? line)),
    ),
);
if (skipped.length > 0) fail(`Skipped, and not in .ci/skipped.txt:\n  ${skipped.join('\n  ')}`);

const failed = named
  .filter((/** @type {any} */ file) => file.status === 'failed')
  .map((/** @type {any} */ file) => file.name);
if (status !== 0 && failed.length === 0) fail('No test failed, but the run did.');
// Many at once are no accident.
if (failed.length > 3) fail(`Failed: ${failed.join(', ')}`);
for (const file of failed) {
  for (const time of [1, 2, 3]) {
    console.log(`\n── ${file} failed. It runs again beside another file (${time} of 3).`);
    if (vitest(file, load) !== 0) fail(`${file} failed again.`);
  }
  appendFileSync(process.env.UNSTABLE ?? '/dev/null', `${file} (SEED=${process.env.SEED})\n`);
}
