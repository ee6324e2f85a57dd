// The tests of `npm run test:nightly -- upgrades`: upgrades from every release, with programs of that release.
import { defineConfig } from 'vitest/config';
import plain from '../../../vitest.config.ts';

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
