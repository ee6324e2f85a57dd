// Upgrades from every release, with programs of that release: npx vitest run --config test/process/upgrades/vitest.config.ts
import { defineConfig } from 'vitest/config';
import plain from '../../../vitest.config.ts';
import { missing } from './releases.ts';

if (missing().length > 0) throw new Error(`This machine lacks:\n${missing().join('\n')}`);

const { exclude: _, globalSetup = [], ...test } = plain.test ?? {};

export default defineConfig({
  test: {
    ...test,
    dir: 'test/process/upgrades',
    // In this process, because vitest gives up a worker that installs packages for minutes.
    globalSetup: [globalSetup, 'test/process/upgrades/check-out-all.ts'].flat(),
    maxWorkers: 1,
  },
});
