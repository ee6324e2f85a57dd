// What `npm run bench` makes of its numbers. `npm run test:nightly` runs it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compare, type Row } from '../../scripts/bench/report.ts';
import { root, run } from '../support/processes.ts';

it('names a part that it does not know', async () => {
  const { status, stderr } = await run(process.execPath, [
    '--import',
    'tsx',
    'scripts/bench.ts',
    '--only',
    'pages',
  ]);
  expect(status).toBe(2);
  expect(stderr).toContain('--only: pages is not one of page, cards');
});

const row = (subject: string, perSecond: number, node: number, database: number): Row => ({
  ...{ measure: 'page', subject, unit: '/s', value: [perSecond, 1, 9999] },
  ...{ node: [node], database: [database] },
});
const rows = [row('ours', 300, 1, 1), row('bare', 600, 2, 0), row('fastify', 200, 4, 0)];

it('compares medians within the run, and leaves out what was not measured', () => {
  expect(compare(rows)).toEqual([
    '- Page: throughput against Fastify with the same checks: 1.50',
    '- Page: CPU of Node and PostgreSQL against the bare handler: 1.00',
  ]);
});

it('docs/benchmarks.md says on what machine, with which versions and by which command it was measured', () => {
  const markdown = readFileSync(join(root, 'docs/benchmarks.md'), 'utf8');
  for (const fact of ['Machine', 'Versions', 'Command', 'Date', 'Load'])
    expect(markdown).toMatch(new RegExp(`^- ${fact}: \\S`, 'm'));
  // What was measured, and not what was hoped for.
  expect(markdown).not.toMatch(/goal/i);
});
