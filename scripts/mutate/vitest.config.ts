// Only tests that need neither a database nor other processes: each mutant runs them again.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/unit/*.test.ts'],
    exclude: [
      ...['change-types', 'config', 'embedded-*', 'planted-links', 'visible', 'walls'].map(
        (name) => `test/unit/${name}.test.ts`,
      ),
    ],
  },
});
