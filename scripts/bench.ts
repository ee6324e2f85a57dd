// `npm run bench`: measures the service beside what others would build for the same answers, in one run, because ratios are
// comparable between machines and seconds are not.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { format } from 'prettier';
import { drawChart } from './bench/chart.ts';
import { benchDeliveries } from './bench/deliveries.ts';
import { judgeGoals } from './bench/goals.ts';
import { benchGrowth } from './bench/growth.ts';
import { benchHostileClients } from './bench/hostile.ts';
import { benchImport } from './bench/import.ts';
import { benchJson } from './bench/json.ts';
import { describeMachine, describeVersions } from './bench/machine.ts';
import { bundlePrograms } from './bench/programs.ts';
import { document, report } from './bench/report.ts';
import { benchRequests, caseNames } from './bench/requests.ts';
import type { Results } from './bench/results.ts';
import { startService } from './bench/service.ts';
import { benchStarts } from './bench/starts.ts';
import { subjectNames, type SubjectName } from './bench/subjects.ts';
import { benchWebhooks } from './bench/webhooks.ts';
import { root } from './support/root.ts';

const quickCases = ['page', 'cards', 'starts'];
const usualParts = [...caseNames, 'starts', 'webhooks', 'deliveries', 'hostile', 'json'];
const parts = [...usualParts, 'growth', 'import'];

const help = `Measure the service beside others that send the same answers: CPU per request, throughput, latency, memory, start-up.

  npm run bench                       a few minutes
  npm run bench -- --quick            under a minute: ${quickCases.join(', ')}
  npm run bench -- --growth           also 10 thousand, 100 thousand and a million transactions (many minutes)
  npm run bench -- --import           also imports and seeds beside insert … select
  npm run bench -- --only page,cards  only these parts
  npm run bench -- --write            write docs/benchmarks.md and docs/benchmarks.svg
  npm run -s bench -- --json          print the results as JSON

Parts:
  page, cursor, filter                a page of transactions: the first; in the middle; with a filter
  schemes, cards, balances            card schemes; POST /payment-methods; gift card balances
  unauthorized, invalid               401; 400 with three violations
  mock-schemes, mock-cards            our mock beside Prism
  starts                              how long programs take to start
  webhooks, deliveries                deliveries a second, one event alone; with receivers that hang
  hostile, json                       one good client beside hostile ones; reading large bodies
  growth, import                      see above

Options:
  --rounds <number>                   interleaved rounds (5)
  --seconds <number>                  length of a round (1)
  --transactions <number>             size of the table for the requests (20000)
  --subjects <names>                  ${subjectNames.join(', ')}
  --sizes <numbers>                   of --growth (10000,100000,1000000)
  --rows <number>                     of --import (200000)`;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    import: { type: 'boolean', default: false },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    transactions: { type: 'string', default: '20000' },
    subjects: { type: 'string', default: subjectNames.join() },
    sizes: { type: 'string', default: '10000,100000,1000000' },
    rows: { type: 'string', default: '200000' },
    help: { type: 'boolean', default: false },
  },
});

const numberOf = (name: 'rounds' | 'seconds' | 'transactions' | 'rows', text: string): number => {
  if (!(Number(text) > 0)) fail(`--${name} is a number above 0.`);
  return Number(text);
};

function namesIn<Name extends string>(option: string, text: string, known: readonly Name[]): Name[] {
  const names = text.split(',');
  const unknown = names.filter((name) => !(known as readonly string[]).includes(name));
  if (unknown.length > 0) fail(`--${option}: ${unknown.join(', ')} is not one of ${known.join(', ')}.`);
  return names as Name[];
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}

const progress = (text: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text.slice(0, process.stderr.columns - 1)}`);
};

async function main(): Promise<Results> {
  const { quick } = values;
  const wanted = new Set(
    values.only === undefined ? (quick ? quickCases : usualParts) : namesIn('only', values.only, parts),
  );
  for (const name of ['growth', 'import'] as const) if (values[name]) wanted.add(name);
  const rounds = numberOf('rounds', values.rounds ?? (quick ? '1' : '5'));
  const seconds = numberOf('seconds', values.seconds ?? (quick ? '0.5' : '1'));
  const transactions = numberOf('transactions', values.transactions);
  const subjects: SubjectName[] = namesIn('subjects', values.subjects, subjectNames);
  const sizes = values.sizes.split(',').map((size) => numberOf('rows', size));
  const results: Results = {
    machine: describeMachine(),
    versions: describeVersions(),
    command: ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(
      ' ',
    ),
    date: new Date().toISOString().slice(0, 10),
    ...{ rounds, seconds, transactions, notes: [], cases: [] },
  };
  // First, while the machine has nothing else to do.
  if (wanted.has('json')) {
    progress('Reading JSON');
    results.json = benchJson();
  }
  progress('Bundling');
  using programs = await bundlePrograms();
  const cases = caseNames.filter((name) => wanted.has(name));
  if (cases.length > 0) {
    const places = quick ? 200 : 1000;
    const options = { cases, subjects, rounds, seconds, transactions, places, progress };
    Object.assign(results, await benchRequests(programs, options));
  }
  if (wanted.has('starts')) results.starts = await benchStarts(programs, Math.min(rounds, 3), progress);
  if (wanted.has('webhooks'))
    results.webhooks = await benchWebhooks(programs, {
      rounds: Math.min(rounds, 3),
      events: quick ? 200 : 1000,
      progress,
    });
  if (wanted.has('hostile') || wanted.has('deliveries')) {
    progress('Starting the service');
    await using service = await startService(programs);
    progress('One good client beside hostile ones');
    if (wanted.has('hostile')) results.hostile = await benchHostileClients(service, seconds * 2);
    progress('Webhooks beside receivers that hang');
    if (wanted.has('deliveries')) results.deliveries = await benchDeliveries(service);
  }
  if (wanted.has('import'))
    results.import = await benchImport(programs, {
      ...{ rows: numberOf('rows', values.rows), rounds: Math.min(rounds, 3), progress },
    });
  if (wanted.has('growth')) results.growth = await benchGrowth(programs, { sizes, progress });
  progress('');
  return results;
}

async function write(results: Results): Promise<void> {
  const page = results.cases.find(({ name }) => name === 'page');
  const chart = page && drawChart(page, results.transactions);
  if (chart === undefined) fail('--write needs the part `page`, and the CPU times of Linux for its chart.');
  writeFileSync(join(root, 'docs/benchmarks.svg'), chart);
  const options = { parser: 'markdown', printWidth: 110, singleQuote: true };
  writeFileSync(join(root, 'docs/benchmarks.md'), await format(document(results), options));
}

if (values.help) console.log(help);
else {
  const results = await main();
  if (values.json) console.log(JSON.stringify({ ...results, goals: judgeGoals(results) }, null, 2));
  else console.log(report(results));
  if (values.write) await write(results);
}
