// Runs before service and mock: see run.js. If openapi/ or a migration changed since the last `npm run generate`, generates again, so that the
// server runs the edited contract and a faulty one stops the start with file and line. If the docs are missing or out of date, a
// process beside the service builds them. Takes milliseconds if nothing changed.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { areDocsBuilt } from './docs/digest.ts';
import { isStale } from './generate/digest.ts';
import { isListStale } from './generate/migrations.ts';
import { root } from './support/root.ts';

const command = (script: string) => ['--import', 'tsx', join('scripts', script)];

async function main(): Promise<number> {
  if ((await isStale(root)) || (await isListStale(root))) {
    console.log('The contract or a migration has changed. Generating:');
    const options = { stdio: 'inherit', cwd: root } as const;
    const { status } = spawnSync(process.execPath, command('generate.ts'), options);
    if (status !== 0) return status ?? 1;
  }
  if (areDocsBuilt()) return 0;
  console.log('The docs are missing or out of date. They are built while the service starts.');
  // Then the service says that they are being built.
  for (const folder of ['site', 'pages']) mkdirSync(join(root, folder), { recursive: true });
  // It ends by itself, or with Ctrl+C.
  spawn(process.execPath, command('docs/in-background.ts'), { stdio: ['ignore', 2, 2], cwd: root }).unref();
  return 0;
}

process.exitCode = await main();
