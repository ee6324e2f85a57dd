// The tests of `npm run test:scale`, which need programs of Debian: see scripts/support/scale-needs.ts.
import { defineConfig } from 'vitest/config';
import plain from './vitest.config.ts';

const { exclude: _, ...test } = plain.test ?? {};

export default defineConfig({ test: { ...test, dir: 'test/process/scale', maxWorkers: 1 } });
