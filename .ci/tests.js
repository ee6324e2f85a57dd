// `node .ci/tests.js SCRIPT [arguments of vitest]`: runs a test script of package.json for CI, such as `test`. Red is a test that
// fails, that is still to do, or that is skipped and not listed in .ci/skipped.txt with a reason, and an error outside of tests, such
// as an unhandled rejection. Nothing is repeated: a test that is red without a fault is mended.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [script = 'test', ...args] = process.argv.slice(2);
const allowed = readFileSync(join(import.meta.dirname, 'skipped.txt'), 'utf8')
  .split('\n')
  .filter((line) => /^[^#]/.test(line))
  .map((line) => line.split(' # ')[0] ?? '');

const folder = mkdtempSync(join(tmpdir(), 'payments-ci-'));
const file = join(folder, 'report.json');
const options = ['--reporter=default', '--reporter=./test/support/ci-reporter.ts', `--outputFile=${file}`];
const { status } = spawnSync('npm', ['run', '--silent', script, '--', ...options, ...args], {
  stdio: 'inherit',
});
const { seed, skipped, todo, errors } = JSON.parse(readFileSync(file, 'utf8'));
rmSync(folder, { recursive: true });

const refused = skipped.filter((/** @type {string} */ test) => !allowed.some((one) => test.startsWith(one)));
const reasons = [
  ...(refused.length > 0 ? [`Skipped, and not in .ci/skipped.txt:\n  ${refused.join('\n  ')}`] : []),
  ...(todo.length > 0 ? [`To do:\n  ${todo.join('\n  ')}`] : []),
  ...(errors > 0 ? [`Errors outside of tests: ${errors}. See above.`] : []),
  ...(status === 0 ? [] : [`The tests failed, with SEED=${seed}. See above.`]),
];
for (const reason of reasons) console.error(reason);
process.exitCode = reasons.length > 0 ? 1 : 0;
