// `npm run check`: everything CI runs besides the tests. Each step states a claim and fails if the claim is false.
import { join } from 'node:path';
import { styleText } from 'node:util';
import { readOptions } from './support/options.ts';
import { root } from './support/root.ts';
import { runNode } from './support/run-node.ts';

type Step = [claim: string, script: string, ...args: string[]];

// Most steps use one core, so two run at the same time.
const lanes: Step[][] = [
  [
    [
      'The contract follows the house rules; the code compiles, the kit also alone, and is linted and formatted',
      'lint.ts',
      ...['--contract', '--code', '--format', '--types'],
    ],
  ],
  [
    ['Generated code matches the contract', 'generate.ts', '--check'],
    ['Every change of the contract is announced', 'diff.ts'],
    ['The docs site builds and loads nothing from other hosts', 'docs.ts'],
    ['The workflows succeed against the service', 'workflows.ts'],
    ['The repository contains no secrets, download URLs or local paths', 'scan-committed-files.ts'],
  ],
];

async function run(steps: Step[]): Promise<void> {
  for (const [claim, script, ...args] of steps) {
    const start = performance.now();
    const program = [...process.execArgv, join(root, 'scripts', script), ...args];
    const { status, stdout, stderr } = await runNode(program);
    const mark = status === 0 ? styleText('green', '✓') : styleText('red', '✗');
    console.log(
      `${mark} ${status === 0 ? claim : `Failed: ${claim}`} ${styleText('dim', `${((performance.now() - start) / 1000).toFixed(1)} s`)}`,
    );
    if (status === 0) continue;
    console.log(`${stdout}${stderr}`.replace(/^/gm, '    '));
    process.exitCode = 1;
  }
}

readOptions({}, 'Run every check that is not a test: npm run check');
await Promise.all(lanes.map(run));
