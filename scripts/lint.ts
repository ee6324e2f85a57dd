// `npm run lint`: every check that does not run the service. Two steps run in parallel, because CI has two cores.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs, styleText } from 'node:util';
import { isStale } from './generate/digest.ts';
import { lintContract } from './lint/contract.ts';
import type { Problem } from './lint/problem.ts';
import { asText, messagesOf } from './lint/report.ts';
import { withStaleTypes } from './lint/stale-types.ts';
import { root } from './support/root.ts';

const help = `Check the contract and the code. Every step runs, even if an earlier one fails.

  npm run lint                    the contract, the code, the format, the types
  npm run lint -- --contract      the contract only
  npm run lint -- --code          Oxlint only
  npm run lint -- --format        the format only
  npm run lint -- --types         the compiler only; several of these may be combined
  npm run -s lint -- --json       as JSON: {ok, steps: [{id, claim, ok, seconds, output, problems?, unfinished?, fix?}]}
  npm run lint -- --fresh         ignore all caches

Exit code: 0 if every claim holds, 1 if one does not, 2 for an unknown option.`;

interface Options {
  contract: boolean;
  code: boolean;
  format: boolean;
  types: boolean;
  json: boolean;
  fresh: boolean;
}

interface Outcome {
  ok: boolean;
  output: string;
  problems?: Problem[];
  unfinished?: Problem[];
  /** Shown even if it is ok. */
  warnings?: string[];
  /** Instead of those of the step. */
  claim?: string;
  fix?: string;
}

interface Step {
  id: 'contract' | 'code' | 'format' | 'types';
  claim: string;
  /** What to do if the step fails. */
  fix: string;
  run: (options: Options) => Promise<Outcome>;
}

const cache = join(root, 'node_modules', '.cache');

const steps: Step[] = [
  {
    id: 'contract',
    claim: 'The contract keeps the house rules, and its examples match their schemas',
    fix: 'Edit the files named above; each message says how.',
    run: checkContract,
  },
  {
    id: 'code',
    claim: 'The code keeps the lint rules',
    fix: 'Run: npx oxlint --fix, which fixes some kinds, and edit what is left; each message says how.',
    run: () => tool('oxlint/bin/oxlint', ['--deny-warnings', '--report-unused-disable-directives']),
  },
  {
    id: 'format',
    claim: 'Every file is formatted',
    fix: 'Run: npx prettier --write ., and fix the syntax of files that it cannot read.',
    run: ({ fresh }) =>
      tool('prettier/bin/prettier.cjs', ['--check', '--log-level=warn', '.'], {
        cached: !fresh && ['--cache', '--cache-strategy=content', `--cache-location=${cache}/prettier/lint`],
      }),
  },
  {
    id: 'types',
    claim: 'The code compiles',
    fix: 'Edit the files named above; the compiler says what it expects.',
    run: async ({ fresh }) => {
      const compile = (project: string, name: string) =>
        tool('@typescript/native/bin/tsc', ['--noEmit', '-p', project], {
          cached: !fresh && ['--incremental', `--tsBuildInfoFile`, `${cache}/tsc/${name}.tsbuildinfo`],
        });
      // What runs in a browser has other globals.
      const [code, pages] = await Promise.all([
        compile(root, 'lint'),
        compile(join(root, 'scripts/docs/browser'), 'pages'),
      ]);
      const outcome = { ok: code.ok && pages.ok, output: `${code.output}\n${pages.output}`.trim() };
      return (await isStale(root)) ? withStaleTypes(outcome) : outcome;
    },
  },
];

async function tool(
  bin: string,
  args: string[],
  { cached }: { cached?: string[] | false } = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [join(root, 'node_modules', bin), ...args, ...(cached || [])], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  const [status, out, err] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  return { ok: status === 0, output: `${out}${err}`.trim() };
}

async function checkContract({ json }: Options): Promise<Outcome> {
  const { problems, unfinished } = await lintContract(root);
  const ok = problems.length === 0;
  if (json) return { ok, output: '', problems, unfinished };
  const output = asText(problems, root, process.stdout.isTTY);
  return { ok, output, warnings: messagesOf(unfinished, root, process.stdout.isTTY) };
}

type Result = Omit<Step, 'run'> & Outcome & { seconds: number };

function print({ ok, claim, output, warnings = [], fix, seconds }: Result): void {
  const mark = ok ? styleText('green', '✓') : styleText('red', '✗');
  console.log(`${mark} ${claim} ${styleText('dim', `(${seconds} s)`)}`);
  if (warnings.length > 0)
    console.log(
      `\n${warnings.join('\n\n')}\n\n${styleText('yellow', 'Unfinished, so it cannot be released yet.')}\n`,
    );
  if (!ok) console.log(`\n${output}\n\n${styleText('bold', fix)}\n`);
}

async function lint(options: Options): Promise<number> {
  const named = steps.filter(({ id }) => options[id]);
  const chosen = named.length > 0 ? named : steps;
  const queue = [...chosen];
  const results: Result[] = [];
  const worker = async () => {
    for (let step = queue.shift(); step; step = queue.shift()) {
      const start = performance.now();
      const { run, ...info } = step;
      const outcome = await run(options);
      const result = { ...info, ...outcome, seconds: Math.round((performance.now() - start) / 100) / 10 };
      results.push(result);
      if (!options.json) print(result);
    }
  };
  await Promise.all([worker(), worker()]);
  const failed = results.filter(({ ok }) => !ok);
  if (options.json) {
    const inOrder = chosen.flatMap(({ id }) => results.filter((result) => result.id === id));
    const shown = inOrder.map(({ fix, ...result }) => (result.ok ? result : { ...result, fix }));
    console.log(JSON.stringify({ ok: failed.length === 0, steps: shown }, null, 2));
  } else if (failed.length > 0) {
    console.log(
      styleText(
        'red',
        `${failed.length} of ${results.length} failed: ${failed.map(({ id }) => id).join(', ')}`,
      ),
    );
  }
  return failed.length === 0 ? 0 : 1;
}

async function main(): Promise<number> {
  const flag = { type: 'boolean', default: false } as const;
  const only = { contract: flag, code: flag, format: flag, types: flag };
  const options = { ...only, json: flag, fresh: flag, help: flag };
  let values;
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    return 2;
  }
  if (!values.help) return lint(values);
  console.log(help);
  return 0;
}

process.exitCode = await main();
