// The tests of `npm run test:nightly -- scale`: failover under Patroni, and recovery from a backup, with real programs of Debian.
import { defineConfig } from 'vitest/config';
import { install, missing } from '../../../scripts/support/scale-needs.ts';
import plain from '../../../vitest.config.ts';

if (missing().length > 0)
  throw new Error(`This machine has no ${missing().join(', no ')}. On Debian 12, as root: ${install}`);

const { exclude: _, ...test } = plain.test ?? {};

export default defineConfig({ test: { ...test, dir: 'test/process/scale', maxWorkers: 1 } });
