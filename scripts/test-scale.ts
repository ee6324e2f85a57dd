// `npm run test:scale`: failover under Patroni, and recovery from a backup, with real programs of Debian.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './support/root.ts';
import { install, missing } from './support/scale-needs.ts';

const args = process.argv.slice(2);
const isRequired = args.includes('--required');
const absent = missing();
if (absent.length > 0) {
  console.log(`SKIPPED: no test ran, because this machine has no ${absent.join(', no ')}. On Debian 12, as root:

  ${install}
`);
  process.exitCode = isRequired ? 1 : 0;
} else {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const others = args.filter((arg) => arg !== '--required');
  const { status } = spawnSync(
    process.execPath,
    [vitest, 'run', '--config', 'vitest.scale.config.ts', ...others],
    { cwd: root, stdio: 'inherit' },
  );
  process.exitCode = status ?? 1;
}
