// `npm run test:citus`: the tests of operations, filters, paging and webhooks, on a cluster of Citus.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './support/root.ts';

const url = process.env.TEST_CITUS_URL;
if (url === undefined) {
  console.log(
    `SKIPPED: no test ran, because TEST_CITUS_URL is not set. It is the URL of a database on the coordinator of a
Citus cluster, whose user may create databases on every server of it: see docs/scaling.md.`,
  );
} else {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const args = ['run', '--config', 'vitest.citus.config.ts', ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, [vitest, ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TEST_DATABASE_URL: url },
  });
  process.exitCode = status ?? 1;
}
