// Runs before `npm start`: if openapi/ changed since generated/ was made, generates first, so that a designer sees the
// change at once and a faulty contract stops the start with file and line. Otherwise it costs milliseconds.
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contractDigest, digestFile } from './generate/digest.ts';
import { root } from './support/redocly.ts';

const made = await readFile(join(root, digestFile), 'utf8').catch(() => '');
if (made.trim() !== (await contractDigest())) {
  console.log('The contract changed since it was last generated. Generating:');
  const script = join(import.meta.dirname, 'generate.ts');
  const { status } = spawnSync(process.execPath, [...process.execArgv, script], {
    stdio: 'inherit',
    cwd: root,
  });
  process.exitCode = status ?? 1;
}
