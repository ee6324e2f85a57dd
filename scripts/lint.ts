// `npm run lint`: the contract, for those who edit YAML. `npm run check` runs all steps, two in parallel, because CI has two cores.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { isStale } from './generate/digest.ts';
import { lintContract } from './lint/contract.ts';
import { checkFormat } from './lint/format.ts';
import { compileKit } from './lint/kit.ts';
import { asText, messagesOf } from './lint/report.ts';
import { withStaleTypes } from './lint/stale-types.ts';
import { compile, incremental, tool } from './lint/tool.ts';
import { readOptions } from './support/options.ts';
import { root } from './support/root.ts';

const help = `Check the contract. The code has checks of its own; npm run check runs all of them, and more.

  npm run lint                    the contract: house rules, references, examples, links
  npm run lint -- --contract      the same
  npm run lint -- --code          Oxlint
  npm run lint -- --format        the format of all files
  npm run lint -- --types         the compiler
  npm run lint -- --delete-unused   the contract, after deleting the components that nothing uses

Several of these may be combined. Every step runs, even if an earlier one fails.

Exit code: 0 if every claim holds, 1 if one does not, 2 for an unknown option.`;

interface Outcome {
  ok: boolean;
  output: string;
  /** Shown even if it is ok. */
  warnings?: string[];
  /** Instead of those of the step. */
  claim?: string;
  fix?: string;
}

interface Step {
  id: 'contract' | 'code' | 'format' | 'types';
  claim: string;
  /** Said instead of the claim if the step fails. */
  fault: string;
  /** What to do if the step fails. */
  fix: string;
  run: () => Promise<Outcome>;
}

const steps: Step[] = [
  {
    id: 'contract',
    claim: 'The contract keeps the house rules, and its examples match their schemas',
    fault: 'The contract has faults',
    fix: 'Edit the files named above; each message says how.',
    run: checkContract,
  },
  {
    id: 'code',
    claim: 'The code keeps the lint rules',
    fault: 'The code breaks lint rules',
    fix: 'Run: npx oxlint --fix, which fixes some kinds, and edit what is left; each message says how.',
    run: () => tool('oxlint/bin/oxlint', ['--deny-warnings', '--report-unused-disable-directives']),
  },
  {
    id: 'format',
    claim: 'Every file is formatted',
    fault: 'Not every file is formatted',
    fix: 'Run: npx prettier --write ., and fix the syntax of files that it cannot read.',
    run: checkFormat,
  },
  {
    id: 'types',
    claim: 'The code compiles',
    fault: 'The code does not compile',
    fix: 'Edit the files named above; the compiler says what it expects.',
    run: async () => {
      // What runs in a browser has other globals.
      const all = await Promise.all([
        compile(root, ...incremental('lint')),
        compile(join(root, 'scripts/docs/browser'), ...incremental('pages')),
        compileKit(),
      ]);
      const output = all.filter(({ ok }) => !ok).map((one) => one.output);
      const outcome = { ok: output.length === 0, output: output.join('\n').trim() };
      return (await isStale(root)) ? withStaleTypes(outcome) : outcome;
    },
  },
];

async function checkContract(): Promise<Outcome> {
  const { problems, unfinished } = await lintContract(root);
  const unused = problems.filter(
    ({ rule, file }) => rule === 'house/no-orphans' && file.startsWith('openapi/components/'),
  );
  if (values['delete-unused'] && unused.length > 0) {
    for (const { file } of unused) {
      rmSync(join(root, file));
      console.log(`Deleted ${file}`);
    }
    return checkContract();
  }
  const output = asText(problems, root, process.stdout.isTTY);
  const warnings = messagesOf(unfinished, root, process.stdout.isTTY);
  return { ok: problems.length === 0, output, warnings };
}

function print(step: Step & Outcome & { seconds: number }): void {
  const { ok, claim, fault, output, warnings = [], fix, seconds } = step;
  const mark = ok ? styleText('green', '✓') : styleText('red', '✗');
  console.log(`${mark} ${ok ? claim : fault} ${styleText('dim', `(${seconds} s)`)}`);
  if (warnings.length > 0)
    console.log(
      `\n${warnings.join('\n\n')}\n\n${styleText('yellow', 'Unfinished, so it cannot be released yet.')}\n`,
    );
  if (!ok) console.log(`\n${output}\n\n${styleText('bold', fix)}\n`);
}

async function lint(chosen: Step[]): Promise<number> {
  const queue = [...chosen];
  const failed: string[] = [];
  const worker = async () => {
    for (let step = queue.shift(); step; step = queue.shift()) {
      const start = performance.now();
      const outcome = await step.run();
      if (!outcome.ok) failed.push(step.id);
      print({ ...step, ...outcome, seconds: Math.round((performance.now() - start) / 100) / 10 });
    }
  };
  await Promise.all([worker(), worker()]);
  if (failed.length === 0) return 0;
  console.log(styleText('red', `${failed.length} of ${chosen.length} failed: ${failed.join(', ')}`));
  return 1;
}

const flag = { type: 'boolean' } as const;
const values = readOptions(
  { contract: flag, code: flag, format: flag, types: flag, 'delete-unused': flag },
  help,
);
const named = steps.filter(({ id }) => values[id] ?? (id === 'contract' && values['delete-unused']));
process.exitCode = await lint(named.length > 0 ? named : steps.slice(0, 1));
