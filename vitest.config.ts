import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { configDefaults, defineConfig } from 'vitest/config';

// After a change of the packages vitest would remove its cache while it uses it, and fail once.
const packages = createHash('sha256').update(readFileSync('node_modules/.package-lock.json')).digest('hex');

export default defineConfig({
  test: {
    // Which of them run, says the command: see the folders in CONTRIBUTING.md.
    dir: 'test',
    include: ['**/*.test.ts'],
    // These need other servers, or programs of others. Each of these folders has a vitest.config.ts.
    exclude: [
      ...configDefaults.exclude,
      '**/citus/**',
      '**/scale/**',
      '**/upgrades/**',
      '**/nightly/**',
      '**/fixtures/**',
    ],
    // Tests depend on it through generated/validators.js, which `--changed` does not see because Git ignores it.
    forceRerunTriggers: [...configDefaults.forceRerunTriggers, '**/generated/openapi.json'],
    globalSetup: ['test/support/global.ts'],
    setupFiles: ['test/support/random.ts', 'test/support/statements.ts'],
    reporters: ['default', './test/support/todo-reporter.ts', './test/support/elsewhere-reporter.ts'],
    // The message of an assertion shows values, not `{ …(27) }`: some tools show only that.
    chaiConfig: { truncateThreshold: 4_000 },
    // Long, because four files share two cores, beside whatever else the machine does. They only end a test that hangs: one that is
    // green waits for none of them.
    testTimeout: 180_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 30_000 } },
    // To remove the databases of a run may take longer than 10 s. Nothing else of vitest runs meanwhile, and it would report its workers.
    teardownTimeout: 120_000,
    // A worker keeps its modules from file to file: to load the server and to compile the contract takes longer than most
    // files. So no file may leave anything behind in a module. For the same reason there is one project: a worker that
    // changes projects loads everything anew.
    isolate: false,
    // Compiled modules are kept between runs.
    experimental: {
      fsModuleCache: true,
      fsModuleCachePath: `node_modules/.cache/vitest/${packages.slice(0, 16)}`,
    },
    // Twice the cores of the smallest machine: with three workers its cores were idle for 29 % of the time, because half of
    // the long files wait for something else.
    maxWorkers: 4,
  },
});
