// The tests of `npm run test:nightly -- scale`: failover under Patroni, and recovery from a backup, with real programs of Debian.
import { defineConfig } from 'vitest/config';
import plain from '../../../vitest.config.ts';

const { exclude: _, ...test } = plain.test ?? {};

export default defineConfig({ test: { ...test, dir: 'test/process/scale', maxWorkers: 1 } });
