// `npm run test:nightly`: what takes too long for every change, or needs programs that few machines have. A part that fails does not
// stop the others. The table at the end says what became of each.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { installPackages, missingOf, packagesOf } from './nightly/needs.ts';
import { parts, type Part } from './nightly/parts.ts';
import { root } from './support/root.ts';

const help = `Run what .ci/run leaves out, which takes an hour or more, and print a table.

  npm run test:nightly                      all parts
  npm run test:nightly -- PART [ARGUMENT…]  one part; the arguments are for the program that it runs, such as
                                            soak --minutes 60, or scale failover (a test file)

${parts.map(({ name, claim }) => `  ${name.padEnd(12)}  ${claim}`).join('\n')}

  --install  as root on Debian: install the packages that the parts need; a part without them is not run
  --json     print the table as JSON on standard output, and everything else on standard error (npm run -s test:nightly)`;

interface Row {
  part: string;
  result: string;
  seconds: number;
}

/** What takes longer hangs. */
const hours = 2;

const options = ['--install', '--json'];
const given = process.argv.slice(2);
const [isInstalling, isJson] = options.map((option) => given.includes(option));
const [name, ...more] = given.filter((word) => !options.includes(word));

/** Runs a command with its output shown, and tells whether it succeeded. */
async function succeeds([program = '', ...args]: string[], env: NodeJS.ProcessEnv = {}): Promise<boolean> {
  const stdio = ['ignore' as const, isJson ? 2 : 1, 2];
  const timeout = hours * 3_600_000;
  const child = spawn(program, args, { cwd: root, stdio, timeout, env: { ...process.env, ...env } });
  const [status] = (await once(child, 'close')) as [number | null];
  return status === 0;
}

async function run({ needs = [], node, steps }: Part): Promise<string> {
  const missing = missingOf(needs);
  if (missing.length > 0) return `not run: needs ${missing.map(({ what }) => what).join(', ')}`;
  const folder = mkdtempSync(join(tmpdir(), 'nightly-'));
  // Tests that run as root start its programs as other users, too.
  chmodSync(folder, 0o755);
  try {
    const env: NodeJS.ProcessEnv = {};
    if (node !== undefined) {
      // In a folder of its own, so that the project cannot come to depend on it; first in the path, for all that tests start.
      const quiet = ['--silent', '--no-fund', '--no-audit'];
      if (!(await succeeds(['npm', 'install', ...quiet, '--prefix', folder, `node@${node}`])))
        return 'failed';
      env.PATH = [join(folder, 'node_modules/node/bin'), process.env.PATH].join(delimiter);
    }
    for (const step of steps(folder))
      if (!(await succeeds([...step.command, ...more], { ...env, ...step.env }))) return 'failed';
    return 'passed';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tableOf(rows: readonly Row[]): string {
  const lines = [['part', 'result', 'seconds'], ...rows.map((row) => Object.values(row).map(String))];
  const widthOf = (column: number) => Math.max(...lines.map((line) => line[column]?.length ?? 0));
  const [first, second] = [widthOf(0), widthOf(1)];
  return lines
    .map(([part = '', result = '', seconds = '']) => [part.padEnd(first), result.padEnd(second), seconds])
    .map((line) => line.join('  '))
    .join('\n');
}

async function main(): Promise<void> {
  if (name === '--help' || name === '-h') {
    console.log(help);
    return;
  }
  const chosen = parts.filter((part) => name === undefined || part.name === name);
  if (chosen.length === 0) {
    console.error(`There is no ${name}: npm run test:nightly -- --help`);
    process.exitCode = 2;
    return;
  }
  const packages = packagesOf(missingOf(chosen.flatMap(({ needs = [] }) => needs)));
  if (isInstalling && packages.length > 0 && !installPackages(packages))
    console.error('Not all packages could be installed: the parts that need them are not run.');
  const rows: Row[] = [];
  for (const part of chosen) {
    console.error(`\n── ${part.name}: ${part.claim}`);
    const start = performance.now();
    const result = await run(part).catch((error: unknown) => {
      console.error(error);
      return 'failed';
    });
    rows.push({ part: part.name, result, seconds: Math.round((performance.now() - start) / 1000) });
  }
  console.log(isJson ? JSON.stringify(rows, undefined, 2) : `\n${tableOf(rows)}`);
  if (!isInstalling && packages.length > 0)
    console.error(`\nTo run all, as root on Debian, add --install: ${packages.join(' ')}`);
  process.exitCode = rows.some(({ result }) => result === 'failed') ? 1 : 0;
}

await main();
