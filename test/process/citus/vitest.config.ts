// The tests of `npm run test:nightly -- citus`: what a sharded database could break. Other tests need servers of their own, or are about
// plans of plain PostgreSQL.
import { defineConfig } from 'vitest/config';
import plain from '../../../vitest.config.ts';

const url = process.env.TEST_CITUS_URL;
if (url === undefined || url === '')
  throw new Error('Set TEST_CITUS_URL to a database on the coordinator: see docs/scaling.md.');
process.env.TEST_DATABASE_URL = url;

const { exclude: _, ...test } = plain.test ?? {};

export default defineConfig({
  test: {
    ...test,
    include: ['process/citus', 'service/operations', '*/sharded'].map((folder) => `${folder}/*.test.ts`),
    // Half as many as elsewhere, because three servers share the cores with them. With four, requests waited longer than they may.
    maxWorkers: 2,
  },
});
