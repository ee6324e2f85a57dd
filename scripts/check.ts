// `npm run check`: what CI runs beside the tests. Each step is a claim in words, and fails when the claim is false.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { root } from './support/redocly.ts';

const help = `Check everything that is not a test.

  npm run check             run every step, say which claims hold
  npm run check -- --json   the same for programs`;

const steps = [
  {
    claim: 'The contract follows the house rules; the code is typed, linted and formatted',
    script: 'lint.ts',
    args: [],
  },
  { claim: 'Generated code matches the contract', script: 'generate.ts', args: ['--check'] },
  { claim: 'No unannounced change of the contract', script: 'diff.ts', args: [] },
  { claim: 'The docs site builds and reaches no other host', script: 'docs.ts', args: [] },
  {
    claim: 'The repo holds no secret, no download address and no path of this machine',
    script: 'clean.ts',
    args: [],
  },
];

interface Outcome {
  claim: string;
  holds: boolean;
  seconds: number;
  output: string;
}

function run({ claim, script, args }: (typeof steps)[number]): Promise<Outcome> {
  const begun = performance.now();
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
      const seconds = Math.round(performance.now() - begun) / 1000;
      resolve({ claim, holds: status === 0, seconds, output: Buffer.concat(chunks).toString('utf8') });
    });
  });
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { json: { type: 'boolean' }, help: { type: 'boolean' } } });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const outcomes: Outcome[] = [];
  for (const step of steps) {
    const outcome = await run(step);
    outcomes.push(outcome);
    if (values.json) continue;
    const mark = outcome.holds ? styleText('green', '✓') : styleText('red', '✗');
    console.log(`${mark} ${outcome.claim} ${styleText('dim', `${outcome.seconds.toFixed(1)} s`)}`);
    if (!outcome.holds) console.log(outcome.output.replace(/^/gm, '    '));
  }
  if (values.json) console.log(JSON.stringify(outcomes, null, 2));
  return outcomes.every(({ holds }) => holds) ? 0 : 1;
}

process.exitCode = await main();
