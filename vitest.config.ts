import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Many tests start processes of their own; more workers than cores only makes them wait for each other.
    maxWorkers: 2,
  },
});
