// The tests of `npm run test:citus`. What is not listed here needs servers of its own, or is about plans of plain PostgreSQL.
import { defineConfig } from 'vitest/config';
import plain from './vitest.config.ts';

const { exclude: _, ...test } = plain.test ?? {};

export default defineConfig({
  test: {
    ...test,
    include: [
      'process/citus/*.test.ts',
      'service/operations/*.test.ts',
      ...[
        'paging',
        'transaction-filters',
        'transaction-paging',
        'idempotency',
        'idempotency-lost',
        'queue',
        'jobs',
        'doctor',
      ],
      ...['webhooks', 'webhook-backlog', 'webhook-fairness', 'webhooks-cli', 'hostile-receivers'],
    ].map((name) => (name.includes('/') ? name : `{service,process}/${name}.test.ts`)),
  },
});
