import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The longest first, so that none is left over when everything else has ended. */
const longest = [
  'contract/changes',
  'client/package',
  'contract/dev',
  'browser/desk',
  'browser/docs',
  'contract/diff',
  'server/kill-server',
  'mock/parity.filters',
  'server/import',
  'server/webhooks',
  'unit/embedded-users',
  'server/container',
  'server/shutdown',
  'server/database-away',
  'mock/parity',
  'server/health',
  'server/side-by-side',
  'contract/house-rules',
  'mock/running',
  'server/cli',
  'server/partition-migration',
  'server/hostile-clients',
  'server/start',
  'unit/embedded-processes',
  'server/upgrade',
  'contract/bad-contract-lint',
  'server/kill-database',
  'mock/values',
  'server/transaction-plans',
  'server/webhooks-cli',
  'server/rolling',
  'contract/generate',
  'server/rotation',
  'server/transaction-filters',
  'server/command',
  'unit/embedded-start',
  'server/instances',
  'server/webhook-backlog',
  'server/side-by-side-1.2',
  'server/pooler',
  'server/seed',
  'contract/editors',
  'server/bench',
  'server/webhook-fairness',
  'server/violations',
  'server/at-rest',
  'browser/approval',
].map((name) => `test/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = longest.findIndex((file) => moduleId.endsWith(file));
      return index === -1 ? longest.length : index;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // These need other servers: see vitest.citus.config.ts and vitest.scale.config.ts.
    exclude: [...configDefaults.exclude, 'test/citus/**', 'test/scale/**'],
    globalSetup: ['test/support/global.ts'],
    setupFiles: ['test/support/statements.ts'],
    reporters: ['default', './test/support/todo-reporter.ts'],
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A worker keeps its modules from file to file: to load the server and to compile the contract takes longer than most
    // files. So no file may leave anything behind in a module. For the same reason there is one project: a worker that
    // changes projects loads everything anew.
    isolate: false,
    // Twice the cores of the smallest machine: with three workers its cores were idle for 29 % of the time, because half of
    // the long files wait for something else.
    maxWorkers: 4,
  },
});
