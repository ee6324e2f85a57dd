// `npm run check`: everything CI runs besides the tests. Each step states a claim and fails if the claim is false.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { root } from './support/root.ts';

const help = `Run every check that is not a test.

  npm run check             run every step and print which claims hold
  npm run check -- --json   print the result as JSON`;

const steps = [
  {
    claim: 'The contract follows the house rules; the code compiles and is linted and formatted',
    script: 'lint.ts',
    args: [],
  },
  { claim: 'Generated code matches the contract', script: 'generate.ts', args: ['--check'] },
  { claim: 'Every change of the contract is announced', script: 'diff.ts', args: [] },
  { claim: 'The docs site builds and loads nothing from other hosts', script: 'docs.ts', args: [] },
  { claim: 'The workflows succeed against the service', script: 'workflows.ts', args: [] },
  {
    claim: 'The repository contains no secrets, download URLs or local paths',
    script: 'scan-committed-files.ts',
    args: [],
  },
];

type Step = (typeof steps)[number];

interface Outcome {
  claim: string;
  holds: boolean;
  seconds: number;
  output: string;
}

function run({ claim, script, args }: Step): Promise<Outcome> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...process.execArgv, join(root, 'scripts', script), ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const chunks: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (status) => {
      const seconds = Math.round(performance.now() - start) / 1000;
      resolve({ claim, holds: status === 0, seconds, output: Buffer.concat(chunks).toString('utf8') });
    });
  });
}

function print({ claim, holds, seconds, output }: Outcome): void {
  const mark = holds ? styleText('green', '✓') : styleText('red', '✗');
  console.log(`${mark} ${claim} ${styleText('dim', `${seconds.toFixed(1)} s`)}`);
  if (!holds) console.log(output.replace(/^/gm, '    '));
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { json: { type: 'boolean' }, help: { type: 'boolean' } } });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const runAll = async (some: Step[]) => {
    const outcomes: Outcome[] = [];
    for (const step of some) {
      const outcome = await run(step);
      outcomes.push(outcome);
      if (!values.json) print(outcome);
    }
    return outcomes;
  };
  // Most steps use one core, so two run at the same time.
  const outcomes = (await Promise.all([runAll(steps.slice(0, 1)), runAll(steps.slice(1))])).flat();
  if (values.json) console.log(JSON.stringify(outcomes, null, 2));
  return outcomes.every(({ holds }) => holds) ? 0 : 1;
}

process.exitCode = await main();
