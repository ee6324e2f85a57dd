/** All releases: a new one is added here. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { needs } from '../../../scripts/support/scale-needs.ts';

export const releases = [
  { version: '1.0.0', commit: '10579539' },
  { version: '1.1.0', commit: '75ea8eef' },
  { version: '1.2.0', commit: 'a584289f' },
];

const isInHistory = (commit: string) =>
  spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { stdio: 'ignore' }).status === 0;

/** What this machine lacks, and how to get it. */
export function missing(): string[] {
  const absent = releases.filter(({ commit }) => !isInHistory(commit)).map(({ commit }) => commit);
  return [
    ...(absent.length > 0 ? [`the commits ${absent.join(', ')}: git fetch --unshallow`] : []),
    ...(existsSync(needs.initdb)
      ? []
      : ['PostgreSQL 15: RUNLEVEL=1 apt-get install --no-install-recommends postgresql-15']),
  ];
}
