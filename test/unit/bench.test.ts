// `npm run bench`: its statistics, its verdicts, its chart, and the documents that it wrote.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drawChart } from '../../scripts/bench/chart.ts';
import { judgeGoals } from '../../scripts/bench/goals.ts';
import { filterNames } from '../../scripts/bench/growth.ts';
import { report, table } from '../../scripts/bench/report.ts';
import type { Measured, Results } from '../../scripts/bench/results.ts';
import { median, percentile, spread } from '../../scripts/bench/statistics.ts';
import { titleOf, type SubjectName } from '../../scripts/bench/subjects.ts';
import { usedBetween } from '../../scripts/bench/usage.ts';
import { root } from '../support/processes.ts';

const flat = (value: number) => ({ median: value, low: value, high: value });

const measured = (subject: SubjectName, [node, database, perSecond]: [number, number, number]): Measured => ({
  subject,
  cpu: { node: flat(node), database: flat(database), sum: flat(node + database) },
  ...{ perSecond: flat(perSecond), p50: flat(1), p99: flat(2), megabytes: 100, bytes: 37_000 },
});

const page = {
  name: 'page',
  title: 'Page of 20 transactions',
  subjects: [measured('ours', [1, 1, 300]), measured('bare', [2, 0, 100]), measured('prism', [4, 0, 160])],
};

const results: Results = {
  ...{ machine: 'a machine', versions: 'versions', command: 'npm run bench', date: '2026-11-15' },
  ...{ rounds: 5, seconds: 1, transactions: 20_000, notes: [], cases: [page] },
};

const tablesIn = (markdown: string): string[][][] =>
  (markdown.match(/(^\|.*\|\n?)+/gm) ?? []).map((text) =>
    text
      .trim()
      .split('\n')
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ),
  );

describe('statistics', () => {
  it('the median is the middle, or between the two middle values, in any order', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(median([10, 9, 100])).toBe(10);
  });

  it('a percentile lies between the two nearest values', () => {
    const hundred = Array.from({ length: 101 }, (_, index) => 100 - index);
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile([1, 3], 0.25)).toBe(1.5);
  });

  it('a spread has the lowest and the highest value', () => {
    expect(spread([3, 1, 2])).toEqual({ median: 2, low: 1, high: 3 });
  });

  it('a backend that was not there before counts from nothing, one that ended does not count', () => {
    const before = new Map([
      [1, 10],
      [2, 5],
    ]);
    const after = new Map([
      [1, 12],
      [3, 4],
    ]);
    expect(usedBetween(before, after)).toBe(6);
  });
});

describe('goals', () => {
  const verdictOf = (start: string) => judgeGoals(results).find(({ measure }) => measure.startsWith(start));

  it('are ratios within the run, and met or not', () => {
    expect(verdictOf('Page of 20: CPU of Node per')).toMatchObject({ value: '0.50', verdict: 'met' });
    expect(verdictOf('Page of 20: CPU of Node and')).toMatchObject({ value: '1.00', verdict: 'met' });
    expect(verdictOf('Page of 20: throughput against Prism')).toMatchObject({
      value: '1.88',
      goal: '≥ 2',
      verdict: 'not met',
    });
  });

  it('that the run did not measure are neither', () => {
    expect(verdictOf('Page of 20: throughput against Fastify')?.verdict).toBe('not measured');
    expect(verdictOf('Growth')?.verdict).toBe('not measured');
  });
});

describe('report', () => {
  it('writes tables whose rows are as wide as their header', () => {
    expect(table(['a', 'number'], [['one', '1']])).toBe(
      '| a   | number |\n| --- | -----: |\n| one |      1 |',
    );
  });

  it('shows every subject of a case with its numbers', () => {
    const [, shown] = tablesIn(report(results));
    expect(shown?.[2]).toEqual([titleOf('ours'), '2.00', '1.00', '1.00', '300', '1.00', '2.00', '100']);
    expect(shown).toHaveLength(2 + page.subjects.length);
  });
});

describe('chart', () => {
  const chart = drawChart(page, 20_000) ?? '';
  const bars = (kind: string) =>
    [
      ...chart.matchAll(
        new RegExp(`class="${kind}[^"]*" x="([\\d.]+)" y="[\\d.]+" width="([\\d.]+)" height="20"`, 'g'),
      ),
    ].map(([, x, width]) => ({ from: Number(x), to: Number(x) + Number(width), width: Number(width) }));

  it('has bars as long as the CPU times, those of PostgreSQL after those of Node', () => {
    const [node, database] = [bars('node'), bars('database')];
    const longest = Math.max(...node.map(({ width }) => width));
    expect(node.map(({ width }) => width / longest)).toEqual([0.25, 0.5, 1]);
    expect(database.map(({ width }) => width / longest)).toEqual([0.25, 0, 0]);
    expect(database.map(({ from }) => from)).toEqual(node.map(({ to }) => to));
  });

  it('says in words what it shows, and has colours for dark screens', () => {
    expect(chart).toContain('role="img"');
    expect(/<desc[^>]*>([^<]*)/.exec(chart)?.[1]).toContain(
      `${titleOf('ours')}: 2.00 ms (Node 1.00, PostgreSQL 1.00), 300 requests a second.`,
    );
    expect(chart).toContain('prefers-color-scheme: dark');
  });

  it('is not drawn without CPU times', () => {
    const { cpu: _, ...withoutCpu } = measured('ours', [1, 1, 300]);
    expect(drawChart({ ...page, subjects: [withoutCpu] }, 20_000)).toBeUndefined();
  });
});

it('growth tries every filter of the contract', () => {
  const contract = JSON.parse(readFileSync(join(root, 'generated/openapi.json'), 'utf8')) as {
    paths: { '/transactions': { get: { parameters: { $ref: string }[] } } };
    components: { parameters: Record<string, { name: string; in: string }> };
  };
  const parameters = contract.paths['/transactions'].get.parameters.map(
    ({ $ref }) => contract.components.parameters[$ref.split('/').at(-1) ?? ''],
  );
  const names = parameters.flatMap((parameter) => (parameter?.in === 'query' ? [parameter.name] : []));
  expect([...filterNames, 'cursor', 'limit'].sort()).toEqual(names.sort());
});

describe('docs/benchmarks.md', () => {
  const markdown = readFileSync(join(root, 'docs/benchmarks.md'), 'utf8');
  const tables = tablesIn(markdown);

  it('has whole tables, the goals first', () => {
    expect(tables[0]?.[0]).toEqual(['measure', 'value', 'goal', '']);
    for (const rows of tables) expect(new Set(rows.map((row) => row.length)).size).toBe(1);
  });

  it('says on what machine, with which versions and by which command it was measured', () => {
    for (const fact of ['Machine', 'Versions', 'Command', 'Date', 'Load'])
      expect(markdown).toMatch(new RegExp(`^- ${fact}: \\S`, 'm'));
  });

  it('has the numbers of the chart', () => {
    const chart = readFileSync(join(root, 'docs/benchmarks.svg'), 'utf8');
    const described = /<desc[^>]*>([^<]*)/.exec(chart)?.[1] ?? '';
    const shown = tables.find(([header]) => header?.[0] === 'subject')?.slice(2) ?? [];
    expect(shown.length).toBeGreaterThan(1);
    for (const [subject = '', sum = ''] of shown) {
      const drawn = new RegExp(`${subject}: ([\\d.]+) ms`).exec(described)?.[1];
      // The document has three digits, the chart two decimals.
      expect(Math.abs(Number(drawn) - Number.parseFloat(sum)), subject).toBeLessThan(0.06);
    }
  });
});
