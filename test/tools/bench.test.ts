// `npm run bench` in its quickest form: the service and a bare handler, one round, a small table.
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { startCommand } from '../support/processes.ts';

interface Found {
  cases: {
    name: string;
    subjects: { subject: string; perSecond: { median: number }; bytes: number; cpu?: object }[];
  }[];
  goals: { measure: string; value: string; verdict: string }[];
}

const bench = (...args: string[]) =>
  startCommand(process.execPath, ['--import', 'tsx', 'scripts/bench.ts', ...args]).ended;

it('measures the subjects beside each other and judges the goals', { timeout: 180_000 }, async () => {
  const { stdout, stderr, status } = await bench(
    ...['--only', 'page,import', '--subjects', 'ours,bare', '--rounds', '1', '--seconds', '0.3'],
    ...['--transactions', '100', '--rows', '100', '--json'],
  );
  expect(status, stderr).toBe(0);
  const { cases, goals } = JSON.parse(stdout) as Found;
  expect(cases.map(({ name }) => name)).toEqual(['page']);
  const [ours, bare] = cases[0]?.subjects ?? [];
  for (const one of [ours, bare]) {
    expect(one?.perSecond.median).toBeGreaterThan(0);
    expect(one?.bytes).toBeGreaterThan(20_000);
    if (existsSync('/proc/self/stat'))
      expect(one?.cpu).toMatchObject({
        node: { median: expect.any(Number) as number },
        database: { median: expect.any(Number) as number },
      });
  }
  expect([ours?.subject, bare?.subject]).toEqual(['ours', 'bare']);
  const judged = goals.filter(({ verdict }) => verdict !== 'not measured').map(({ measure }) => measure);
  if (existsSync('/proc/self/stat')) expect(judged).toHaveLength(5);
});

it('names what it does not know', async () => {
  const { status, stderr } = await bench('--only', 'pages');
  expect(status).toBe(2);
  expect(stderr).toContain('--only: pages is not one of page, cursor');
});
