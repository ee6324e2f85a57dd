import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Many tests start processes of their own; more workers than cores only makes them wait for each other.
    maxWorkers: 2,
    // A worker keeps its modules from file to file: to load the server and to compile the contract takes longer than most
    // files. So no file may leave anything behind in a module.
    isolate: false,
  },
});
