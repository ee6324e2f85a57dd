import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that mostly wait for processes, for a browser or for very many rows; the longest first, so that none is left over
 * when everything else has ended.
 */
const heavy = [
  'contract/generate',
  'mock/running',
  'server/kill-events',
  'server/import',
  'server/webhooks',
  'browser/docs',
  'client/package',
  'server/kill-server',
  'server/kill-database',
  'unit/embedded-users',
  'server/database-away',
  'server/shutdown',
  'server/start',
  'unit/embedded-processes',
  'server/cli',
  'contract/diff',
  'contract/bad-contract-lint',
  'server/rotation',
  'server/seed',
  'server/side-by-side',
  'server/upgrade',
  'unit/embedded-binaries',
  'server/at-rest',
  'browser/approval',
  'client/browser',
].map((name) => `test/${name}.test.ts`);

/** The heavy project first, and the files of a project in one row: a worker that changes projects loads everything anew. */
class HeavyFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = heavy.findIndex((file) => moduleId.endsWith(file));
      return index === -1 ? heavy.length : index;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

const common = {
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // A worker keeps its modules from file to file: to load the server and to compile the contract takes longer than most
  // files. So no file may leave anything behind in a module.
  isolate: false,
  // One more than the cores of the smallest machine: half of the heavy files wait for something else.
  maxWorkers: 3,
};

export default defineConfig({
  test: {
    ...common,
    globalSetup: ['test/support/global.ts'],
    sequence: { sequencer: HeavyFirst },
    projects: [
      { test: { ...common, name: 'heavy', include: heavy } },
      { test: { ...common, name: 'quick', include: ['test/**/*.test.ts'], exclude: heavy } },
    ],
  },
});
