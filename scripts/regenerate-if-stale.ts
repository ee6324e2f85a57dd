// Runs before `npm start`. If openapi/ or a migration changed since the last `npm run generate`, generates again, so that the
// server runs the edited contract and a faulty one stops the start with file and line. Builds the docs if they are missing or
// out of date. Takes milliseconds if nothing changed.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { areDocsBuilt } from './docs/digest.ts';
import { staleParts } from './generate/digest.ts';
import { root } from './support/root.ts';

function run(script: string): number {
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', join('scripts', script)], {
    stdio: 'inherit',
    cwd: root,
  });
  return status ?? 1;
}

async function main(): Promise<number> {
  const stale = await staleParts(root);
  if (stale.length > 0) {
    console.log(`${stale.join('.\n')}. Generating:`);
    const failed = run('generate.ts');
    if (failed) return failed;
  }
  if (areDocsBuilt()) return 0;
  console.log('The docs are missing or out of date. Building them:');
  return run('docs.ts');
}

process.exitCode = await main();
