// The tests of `npm run test:citus`: what a sharded database could break. Other tests need servers of their own, or are about
// plans of plain PostgreSQL.
import { defineConfig } from 'vitest/config';
import plain from './vitest.config.ts';

const { exclude: _, ...test } = plain.test ?? {};

export default defineConfig({
  test: {
    ...test,
    include: ['process/citus', 'service/operations', '*/sharded'].map((folder) => `${folder}/*.test.ts`),
  },
});
