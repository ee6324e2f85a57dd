// `npm run mutate`: changes the code that guards money, cards, tokens and accounts in small ways (a mutant each), and shows which
// of these changes no test notices. Only tests without a database run, so that a mutant takes a second.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { summarise } from './mutate/summary.ts';
import { root } from './support/root.ts';

const guards = [
  ...readdirSync(join(root, 'server', 'domain')).map((name) => `server/domain/${name}`),
  ...['bearer', 'cache', 'merchant-account', 'permission'].map((name) => `server/http/${name}.ts`),
  ...['bound-faults', 'violations'].map((name) => `server/contract/${name}.ts`),
  ...['guard', 'sign'].map((name) => `server/webhooks/${name}.ts`),
];

const help = `Change the guarded code in small ways and show the changes that no test notices (survivors).

  npm run mutate                            all files, 10 to 20 minutes
  npm run mutate -- token vault             the files whose path contains one of these texts
  npm run mutate -- --concurrency 1 token   with one process instead of two
  npm run -s mutate -- --json token         for programs

A survivor needs a test. If the change makes no difference to any caller, write above the line, with the reason:
  // Stryker disable next-line MutatorName: reason

Files:
  ${guards.join('\n  ')}

Exit code: 0 if no mutant survived, 1 if one did, 2 for an unknown option or file.`;

async function main(): Promise<number> {
  let parsed;
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: {
        concurrency: { type: 'string', default: '2' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    return 2;
  }
  const { values, positionals } = parsed;
  if (values.help) {
    console.log(help);
    return 0;
  }
  const unknown = positionals.filter((part) => !guards.some((file) => file.includes(part)));
  if (unknown.length > 0) {
    console.error(`No file in the list contains ${unknown.join(' or ')} in its path.\n\n${help}`);
    return 2;
  }
  const chosen = guards.filter(
    (file) => positionals.length === 0 || positionals.some((part) => file.includes(part)),
  );
  process.chdir(root);
  const started = performance.now();
  const mutants = await new Stryker({
    configFile: 'scripts/mutate/stryker.json',
    mutate: chosen,
    concurrency: Number(values.concurrency),
    reporters: values.json ? [] : ['progress-append-only'],
  }).runMutationTest();
  const seconds = Math.round((performance.now() - started) / 1000);
  const summary = summarise(mutants, root);
  console.log(values.json ? JSON.stringify({ ...summary.facts, seconds }, null, 2) : summary.text(seconds));
  return summary.facts.survivors.length === 0 ? 0 : 1;
}

process.exitCode = await main();
