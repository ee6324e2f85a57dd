// `npm run bench`: measures the service beside what others would build for the same answers, in one run.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, type } from 'node:os';
import { join } from 'node:path';
import { format } from 'prettier';
import { benchDeliveries } from './bench/deliveries.ts';
import { benchFloods } from './bench/floods.ts';
import { document, report, type Row } from './bench/report.ts';
import { benchRequests } from './bench/requests.ts';
import { createService } from './bench/service.ts';
import { benchStarts } from './bench/starts.ts';
import { readOptions } from './support/options.ts';
import { root } from './support/root.ts';

const parts = ['page', 'cards', 'floods', 'deliveries', 'start'];

const help = `Measure the service, as npm start runs it, beside others that send the same answers: CPU, throughput, memory, start.

  npm run bench                        some ten minutes: 5 interleaved rounds of 3 seconds
  npm run bench -- --quick             one round of half a second, with small tables
  npm run bench -- --only page,start   only these parts: ${parts.join(', ')}
  npm run bench -- --write             write docs/benchmarks.md
  npm run -s bench -- --json           the numbers of each round`;

const flag = { type: 'boolean' } as const;
const only = { type: 'string', default: parts.join() } as const;
const values = readOptions({ quick: flag, only, write: flag, json: flag }, help);

const { rounds, seconds, transactions, events } = values.quick
  ? { rounds: 1, seconds: 0.5, transactions: 1000, events: 100 }
  : { rounds: 5, seconds: 3, transactions: 20_000, events: 1000 };

async function main(wanted: readonly string[]): Promise<Row[]> {
  // With a subscription a new card has a delivery. Port 9 discards.
  await using service = await createService(transactions, 'http://127.0.0.1:9/');
  const measures: Record<string, () => Promise<Row[]>> = {
    page: () => benchRequests('page', service, { rounds, seconds }),
    cards: () => benchRequests('cards', service, { rounds, seconds }),
    floods: () => benchFloods(service, { rounds, seconds }),
    deliveries: () => benchDeliveries(events, rounds),
    start: () => benchStarts(rounds),
  };
  const found: Row[] = [];
  for (const [part, measure] of Object.entries(measures)) {
    if (!wanted.includes(part)) continue;
    console.error(`Measuring: ${part}`);
    found.push(...(await measure()));
  }
  return found;
}

/** What the numbers depend on. */
function facts(): string[] {
  const project = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, object>;
  const versions = Object.entries({ ...project.dependencies, ...project.devDependencies })
    .filter(([name]) => /^(express|express-openapi-validator|pg|fastify|@stoplight\/prism-cli)$/.test(name))
    .map((entry) => entry.join(' '));
  return [
    `Machine: ${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, ${type()} ${release()}`,
    `Versions: ${[`Node ${process.versions.node}`, ...versions].join(', ')}`,
    `Command: \`npm run bench -- ${process.argv.slice(2).join(' ')}\``,
    `Date: ${new Date().toISOString().slice(0, 10)}`,
    `Load: autocannon with 16 connections; ${transactions.toLocaleString('en')} transactions`,
  ];
}

const markdown = (text: string) => format(text, { parser: 'markdown', printWidth: 110 });
const wanted = values.only.split(',');
const unknown = wanted.filter((part) => !parts.includes(part));
if (unknown.length > 0) {
  console.error(`--only: ${unknown.join(', ')} is not one of ${parts.join(', ')}.`);
  process.exitCode = 2;
} else {
  const found = await main(wanted);
  console.log(values.json ? JSON.stringify(found, null, 2) : await markdown(report(found)));
  if (values.write) writeFileSync(join(root, 'docs/benchmarks.md'), await markdown(document(found, facts())));
}
