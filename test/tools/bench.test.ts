// `npm run bench` in its shortest form, and what it makes of its numbers.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { judge, type Row } from '../../scripts/bench/report.ts';
import { root, startCommand } from '../support/processes.ts';

const bench = (...args: string[]) =>
  startCommand(process.execPath, ['--import', 'tsx', 'scripts/bench.ts', ...args]).ended;

it(
  'measures the service and its peers, which send the same answers and refuse the same',
  { timeout: 300_000 },
  async () => {
    const args = ['--quick', '--seconds', '0.5', '--only', 'page,cards', '--json'];
    const { stdout, stderr, status } = await bench(...args);
    expect(status, stderr).toBe(0);
    const rows = JSON.parse(stdout) as Row[];
    expect(rows.map(({ measure, subject }) => `${measure} ${subject}`)).toEqual([
      ...['page ours', 'page bare', 'page fastify', 'page validator', 'page prism'],
      ...['cards ours', 'cards bare', 'cards fastify'],
    ]);
    for (const { subject, value, node, megabytes } of rows) {
      expect(value[0], subject).toBeGreaterThan(0);
      if (!existsSync('/proc/self/schedstat')) continue;
      expect(node?.[0], subject).toBeGreaterThan(0);
      expect(megabytes?.[0], subject).toBeGreaterThan(10);
    }
  },
);

it('names a part that it does not know', async () => {
  const { status, stderr } = await bench('--only', 'pages');
  expect(status).toBe(2);
  expect(stderr).toContain('--only: pages is not one of page, cards');
});

const row = (subject: string, perSecond: number, node: number, database: number): Row => ({
  ...{ measure: 'page', subject, unit: '/s', value: [perSecond, 1, 9999] },
  ...{ node: [node], database: [database] },
});
const rows = [row('ours', 300, 1, 1), row('bare', 600, 2, 0), row('fastify', 200, 4, 0)];

it('judges ratios of medians within the run, and leaves out what was not measured', () => {
  expect(judge(rows)).toEqual([
    '- Page: throughput against Fastify with the same checks: 1.50 (goal: ≥ 1, met)',
    '- Page: CPU of Node and PostgreSQL against the bare handler: 1.00 (goal: ≤ 1.25, met)',
  ]);
});

it('docs/benchmarks.md says on what machine, with which versions and by which command it was measured', () => {
  const markdown = readFileSync(join(root, 'docs/benchmarks.md'), 'utf8');
  for (const fact of ['Machine', 'Versions', 'Command', 'Date', 'Load'])
    expect(markdown).toMatch(new RegExp(`^- ${fact}: \\S`, 'm'));
});
