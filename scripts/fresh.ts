// Runs before `npm start`: if openapi/ changed since generated/ was made, generates first, so that a designer sees the
// change at once and a faulty contract stops the start with file and line; and builds the docs if there are none yet, or
// old ones. Otherwise it costs milliseconds.
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contractDigest, digestFile } from './generate/digest.ts';
import { root } from './support/redocly.ts';

const read = (file: string) => readFile(join(root, file), 'utf8').catch(() => '');

function run(script: string): number {
  const file = join(import.meta.dirname, script);
  const { status } = spawnSync(process.execPath, [...process.execArgv, file], {
    stdio: 'inherit',
    cwd: root,
  });
  return status ?? 1;
}

async function main(): Promise<number> {
  if ((await read(digestFile)).trim() !== (await contractDigest())) {
    console.log('The contract changed since it was last generated. Generating:');
    const failed = run('generate.ts');
    if (failed) return failed;
  }
  if ((await read('site/openapi.json')) === (await read('generated/openapi.json'))) return 0;
  console.log('Building the docs, at the first start and when the contract changed:');
  return run('docs.ts');
}

process.exitCode = await main();
