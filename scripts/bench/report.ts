// The results as Markdown, the same in the terminal and in docs/benchmarks.md: one table, and ratios.

/** One subject in one measure. Each list has a number per round. */
export interface Row {
  measure: string;
  subject: string;
  unit: '/s' | 's' | 'ms';
  value: number[];
  /** Milliseconds of CPU per request. */
  node?: number[];
  database?: number[];
  /** Milliseconds. */
  p99?: number[];
  /** Resident memory under load. */
  megabytes?: number[];
}

const measures: Record<string, string> = {
  page: 'Page of 20 transactions',
  cards: '`POST /payment-methods`, a new number each',
  floods: "Another account's page",
  deliveries: 'Webhooks of a backlog, to one receiver',
  start: 'Start',
};

/** What another key pair sends meanwhile, over so many connections. */
const floods: Record<string, string> = {
  'signatures 40': '40 × wrong signatures',
  'signatures 300': '300 × wrong signatures',
  'expired 40': '40 × expired tokens',
  'expired 300': '300 × expired tokens',
  'unknown 40': '40 × unknown key IDs',
  'unknown 300': '300 × unknown key IDs',
};

const subjects: Record<string, string> = {
  ours: 'payments service, all checks on',
  bare: 'node:http and pg, no checks',
  fastify: 'Fastify, same checks',
  express: 'Express with express-openapi-validator, same rows',
  validator: 'express-openapi-validator as its README shows',
  prism: 'Prism',
  alone: 'without a flood',
  ...floods,
  fresh: 'sandbox, fresh',
  reopened: 'sandbox, reopened',
  mock: 'our mock',
  token: '`payments token`',
};

export function median(numbers: readonly number[] = []): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const [below = NaN, above = NaN] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return (below + above) / 2;
}

const value = (row: Row) => median(row.value);
const cpu = ({ node, database }: Row) => median(node) + median(database);
const memory = (row: Row) => median(row.megabytes);

/** What, and of which rows (measure and subject) the ratio is. Ratios are comparable between machines. */
type Ratio = [what: string, of: (row: Row) => number, ours: string, other: string];

const ratios: Ratio[] = [
  ['Page: throughput against Fastify with the same checks', value, 'page ours', 'page fastify'],
  ['Page: CPU of Node and PostgreSQL against the bare handler', cpu, 'page ours', 'page bare'],
  ['Page: throughput against express-openapi-validator', value, 'page ours', 'page validator'],
  ['Page: throughput against Prism', value, 'page ours', 'page prism'],
  ['Page: memory under load against Prism', memory, 'page ours', 'page prism'],
  ['New cards: CPU of Node and PostgreSQL against Fastify, same work', cpu, 'cards ours', 'cards fastify'],
  ['New cards: throughput against Fastify, same work', value, 'cards ours', 'cards fastify'],
  ['New cards: throughput against Express, same rows', value, 'cards ours', 'cards express'],
  ...Object.entries(floods).map(([flood, name]): Ratio => [
    `Another account's page: its time during a flood of ${name}`,
    value,
    `floods ${flood}`,
    'floods alone',
  ]),
  ['Start: the reopened sandbox against Prism', value, 'start reopened', 'start prism'],
];

/** One line per ratio that this run has measured. */
export function compare(rows: readonly Row[]): string[] {
  const find = (key: string) => rows.find(({ measure, subject }) => `${measure} ${subject}` === key);
  return ratios.flatMap(([what, of, ours, other]) => {
    const [one, two] = [find(ours), find(other)];
    const ratio = one && two ? of(one) / of(two) : NaN;
    return Number.isNaN(ratio) ? [] : [`- ${what}: ${ratio.toFixed(2)}`];
  });
}

function number(count: number): string {
  if (Number.isNaN(count)) return '–';
  if (count >= 100) return Math.round(count).toLocaleString('en');
  return count.toFixed(count >= 10 ? 1 : 2);
}

function cellsOf({ measure, subject, unit, value: values, node, database, p99, megabytes }: Row): string[] {
  const range = `(${number(Math.min(...values))}–${number(Math.max(...values))})`;
  const result = [number(median(values)), ...(values.length > 1 ? [range] : []), unit].join(' ');
  const others = [node, database, p99, megabytes].map((numbers) => number(median(numbers)));
  return [measures[measure] ?? measure, subjects[subject] ?? subject, result, ...others];
}

export const report = (rows: readonly Row[]): string => `## Results

| measure | subject | result | CPU ms Node | PostgreSQL | p99 ms | RSS MB |
| --- | --- | --: | --: | --: | --: | --: |
${rows.map((row) => `| ${cellsOf(row).join(' | ')} |`).join('\n')}

Ratios of these medians:

${compare(rows).join('\n')}
`;

/** docs/benchmarks.md: the report, with what a reader needs to judge the numbers. */
export const document = (rows: readonly Row[], facts: readonly string[]): string => `# Benchmarks

For those who compare frameworks, and for contributors. Written by \`npm run bench -- --write\`; do not edit. The service runs as
\`npm start\` runs it, with every check and its log. The others use the same PostgreSQL tables and send the same answers.

${facts.map((fact) => `- ${fact}`).join('\n')}
- Numbers are medians over interleaved rounds, with the lowest and the highest in parentheses. CPU is per request, of Node and of all
  PostgreSQL processes. Each subject is warmed up before each round.
- Fastify verifies a token once, checks request and answer, and logs a line per request. For a card it also seals the number, counts alike
  numbers with the statement of the service, and stores card, event and delivery. Express does the same, but counts and logs nothing. The
  handler without checks only inserts.
- A flood is of another key pair, with so many connections whose tokens are refused. The pages are asked for one after the other.
- express-openapi-validator verifies each token. Prism has the page as an example in the contract.

${report(rows)}`;
