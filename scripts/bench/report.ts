// The results as Markdown: the same text in the terminal and in docs/benchmarks.md.
import { judgeGoals } from './goals.ts';
import type { GrowthTimes, Measured, Results } from './results.ts';
import type { Spread } from './statistics.ts';
import { titleOf } from './subjects.ts';

/** The first column is text, the others are numbers and aligned at the right. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((_, column) =>
    Math.max(3, ...[header, ...rows].map((row) => (row[column] ?? '').length)),
  );
  const pad = (text: string, column: number) => {
    const blanks = ' '.repeat((widths[column] ?? 0) - text.length);
    return column === 0 ? text + blanks : blanks + text;
  };
  const line = (cells: readonly string[]) => `| ${cells.map(pad).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(header), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n');
}

const number = (value: number): string =>
  value >= 1000
    ? Math.round(value).toLocaleString('en')
    : value >= 100
      ? value.toFixed(0)
      : value >= 10
        ? value.toFixed(1)
        : value.toFixed(2);

/** The median, and the lowest and highest if they differ. */
const shown = ({ median, low, high }: Spread): string =>
  low === high ? number(median) : `${number(median)} (${number(low)}–${number(high)})`;

export function report(results: Results): string {
  const { cases, starts, webhooks, growth, import: imported } = results;
  return [
    goalsSection(results),
    ...results.notes,
    ...cases.map(({ title, subjects }) => section(title, caseTable(subjects))),
    starts &&
      section(
        'Start-up, seconds',
        table(
          ['program', 'seconds'],
          starts.map(({ title, milliseconds: { median, low, high } }) => [
            title,
            shown({ median: median / 1000, low: low / 1000, high: high / 1000 }),
          ]),
        ),
      ),
    webhooks &&
      section(
        'Webhooks',
        table(
          ['measure', 'value'],
          [
            ['deliveries a second, from a backlog to one receiver', shown(webhooks.deliveries)],
            ['bare loop of signed requests to the same receiver, a second', shown(webhooks.bareLoop)],
            ['one event alone, milliseconds', shown(webhooks.alone)],
          ],
        ),
      ),
    growth &&
      section('Growth: milliseconds of one request, by the number of transactions', growthTable(growth)),
    imported &&
      section(
        `Import of ${number(imported.rows)} transactions, rows a second`,
        table(
          ['way', 'rows a second'],
          [
            ['`insert … select` of the same rows', shown(imported.insertSelect)],
            ['`payments seed`', shown(imported.seed)],
            ['`payments import`', shown(imported.import)],
          ],
        ),
      ),
    results.json && section('Milliseconds to read 100 kB of JSON', objectsTable(results.json)),
    results.hostile &&
      section(
        'Milliseconds of a page for one good client beside hostile connections',
        objectsTable(results.hostile),
      ),
    results.deliveries &&
      section(
        'Webhooks of many calls at once: milliseconds from the answer of the call to its event',
        objectsTable(results.deliveries),
      ),
  ]
    .filter((part) => part !== undefined)
    .join('\n\n');
}

const section = (title: string, content: string) => `## ${title}\n\n${content}`;

function goalsSection(results: Results): string | undefined {
  const goals = judgeGoals(results).filter(({ verdict }) => verdict !== 'not measured');
  if (goals.length === 0) return undefined;
  const rows = goals.map(({ measure, value, goal, verdict }) => [measure, value, goal, verdict]);
  return section('Goals', table(['measure', 'value', 'goal', ''], rows));
}

function caseTable(subjects: readonly Measured[]): string {
  const hasCpu = subjects.some(({ cpu }) => cpu !== undefined);
  const header = ['subject', ...(hasCpu ? cpuColumns : []), 'requests a second', 'p50 ms', 'p99 ms'];
  return table(
    hasCpu ? [...header, 'RSS MB'] : header,
    subjects.map(({ subject, cpu, perSecond, p50, p99, megabytes }) => [
      titleOf(subject),
      ...(cpu ? [shown(cpu.sum), number(cpu.node.median), number(cpu.database.median)] : []),
      shown(perSecond),
      number(p50.median),
      number(p99.median),
      ...(megabytes === undefined ? [] : [megabytes.toFixed(0)]),
    ]),
  );
}

const cpuColumns = ['CPU ms per request', 'Node', 'PostgreSQL'];

function growthTable(growth: readonly GrowthTimes[]): string {
  const [any] = growth;
  const row = (name: string, of: (times: GrowthTimes) => number | undefined) => [
    name,
    ...growth.map((times) => number(of(times) ?? NaN)),
  ];
  const names = (of: (times: GrowthTimes) => Record<string, number>) => (any ? Object.keys(of(any)) : []);
  return table(
    ['page', ...growth.map(({ rows }) => number(rows))],
    [
      ...(['first', 'middle', 'last'] as const).map((page) =>
        row(`${page} page`, ({ pages }) => pages[page]),
      ),
      ...names(({ filters }) => filters).map((name) => row(`\`${name}\``, ({ filters }) => filters[name])),
      ...names(({ pairs }) => pairs).map((name) => row(name, ({ pairs }) => pairs[name])),
      ...names(({ elsewhere }) => elsewhere).map((name) =>
        row(`\`${name}\`, in an account without such rows`, ({ elsewhere }) => elsewhere[name]),
      ),
    ],
  );
}

function objectsTable(rows: readonly Record<string, string | number>[]): string {
  const header = Object.keys(rows[0] ?? {});
  return table(
    header,
    rows.map((row) => header.map((name) => String(row[name] ?? ''))),
  );
}

/** docs/benchmarks.md: the report, with what a reader needs to judge the numbers. */
export const document = (results: Results): string => `# Benchmarks

Written by \`npm run bench -- --write\`; do not edit. The checks of the service are all on: token, request and response
validation, access log. The others are wired as their own documentation shows, read the same PostgreSQL table of
${number(results.transactions)} transactions and send the same answer.

![CPU per request for a page of 20 transactions](benchmarks.svg)

- Machine: ${results.machine}
- Versions: ${results.versions}
- Command: \`${results.command}\`
- Date: ${results.date}
- Load: 16 connections from a process of its own; ${results.rounds} interleaved round${results.rounds > 1 ? 's' : ''} of ${results.seconds} s per subject
- Numbers are medians over the rounds, with the lowest and the highest in parentheses. CPU is that of the Node process and of
  its PostgreSQL backends.
- The bare handler is \`node:http\` and \`pg\` with a named statement and \`JSON.stringify\`. Prism and our mock have the page as an
  example in the contract.

${report(results)}
`;
