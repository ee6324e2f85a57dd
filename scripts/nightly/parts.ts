// The parts of the nightly run, in their order.
import { join } from 'node:path';
import { needs, type Need } from './needs.ts';

interface Step {
  command: string[];
  env?: NodeJS.ProcessEnv;
}

export interface Part {
  name: string;
  claim: string;
  needs?: readonly Need[];
  /** A version of Node to run it with; ours by default. */
  node?: number;
  /** `folder` is an empty one, which is removed afterwards. */
  steps: (folder: string) => Step[];
}

const npm = (script: string, ...args: string[]): Step => ({
  command: ['npm', 'run', '-s', script, '--', ...args],
});
/** The tests of a folder that has a configuration of its own. */
const testsIn = (folder: string, ...args: string[]): Step => ({
  command: ['npx', 'vitest', 'run', '--config', `${folder}/vitest.config.ts`, ...args],
});
const onPostgresql15 = ({ command }: Step): Step => ({ command: ['.ci/with-postgresql-15', ...command] });

const { postgresql15, patroni, etcd, haproxy, pgbouncer, chromium, python, php, go } = needs;

export const parts: readonly Part[] = [
  {
    name: 'all-cases',
    claim: 'all cases of the tests that leave some out otherwise, and a seed that is chosen by chance',
    needs: [chromium],
    steps: () =>
      [
        npm('test'),
        // Those of processes and tools that leave cases out otherwise.
        npm('test:process', 'floods', 'import', 'interrupted-start', 'mock'),
        npm('test:tools', 'dashboard', 'testing-guide'),
      ].map((step) => ({ ...step, env: { SEED: 'random' } })),
  },
  { name: 'node22', claim: 'npm test on Node 22', node: 22, steps: () => [npm('test')] },
  {
    name: 'node24',
    claim: 'npm test and the tests of processes on Node 24',
    needs: [pgbouncer],
    node: 24,
    steps: () => [npm('test:all', '--exclude', 'tools/**')],
  },
  {
    name: 'postgresql15',
    claim: 'what the database could break, on PostgreSQL 15',
    needs: [postgresql15],
    steps: () => [
      onPostgresql15(npm('test', '--dir', 'test/service')),
      onPostgresql15(
        npm('test:process', 'at-rest', 'database-rights', 'many-accounts', 'rolling', 'sharded'),
      ),
    ],
  },
  {
    name: 'upgrades',
    claim: 'every release is upgraded to this version and back, also while both run beside each other',
    needs: [postgresql15, needs.history],
    steps: () => [testsIn('test/process/upgrades')],
  },
  {
    name: 'scale',
    claim: 'a failover under Patroni loses no write, and a backup can be restored (docs/scaling.md)',
    needs: [postgresql15, patroni, etcd, haproxy],
    steps: () => [testsIn('test/process/scale')],
  },
  {
    name: 'citus',
    claim: 'what a sharded database could break, on Citus (docs/scaling.md)',
    needs: [needs.citus],
    steps: () => [testsIn('test/process/citus')],
  },
  {
    name: 'soak',
    claim: 'the data is sound after minutes of mixed and hostile load, with server and database killed',
    steps: () => [{ command: ['npx', 'tsx', 'scripts/soak.ts'] }],
  },
  {
    name: 'root-clone',
    claim: 'a fresh clone, run by root in a folder with mode 700, answers the printed curl with 200',
    needs: [needs.root],
    steps: (folder) => [{ command: ['.ci/start-and-call', join(folder, 'clone'), 'root'] }],
  },
  {
    name: 'samples',
    claim:
      'the samples of the docs run, in TypeScript, JavaScript, Python, PHP and Go, and in others that are installed',
    needs: [python, php, go],
    steps: () => [testsIn('test/tools/nightly', 'samples')],
  },
  {
    name: 'programs',
    claim:
      'programs of others, the packages in their projects, another API, npm test after the recipes of the guides, and each command first in a fresh clone',
    steps: () => [testsIn('test/tools/nightly', '--exclude', '**/samples.test.ts')],
  },
  {
    name: 'bench',
    claim: 'the bench measures the service and its peers',
    steps: () => [npm('bench', '--quick', '--only', 'page,cards')],
  },
];
