// The tests of `npm run test:nightly` that use programs of others, or copy the project and run much in it.
import { defineConfig } from 'vitest/config';
import plain from '../../../vitest.config.ts';

const { exclude: _, ...test } = plain.test ?? {};

export default defineConfig({ test: { ...test, dir: 'test/tools/nightly', maxWorkers: 1 } });
