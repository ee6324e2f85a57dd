// Only tests that need neither a database nor connections nor other processes: each mutant runs them again.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // A test that is only slow must not count as one that notices the mutant. Stryker ends endless loops.
    testTimeout: 60_000,
    include: ['test/unit/*.test.ts'],
  },
});
