// Called by scripts/run.js: bundles a program into a folder of its own and records the files that it is made of.
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sourcesOfValidators, validatorsFile } from './generate/fresh-validators.ts';
import { bundle } from './support/bundle.ts';
import { root } from './support/root.ts';

const [program = '', recordFile = ''] = process.argv.slice(2);
/** A process that runs from an older bundle may still load a part of it. */
const keepMilliseconds = 7 * 24 * 3_600_000;

const stampOf = (file: string) => {
  const { mtimeMs, size } = statSync(join(root, file));
  return `${mtimeMs} ${size}`;
};

const cache = dirname(recordFile);
mkdirSync(cache, { recursive: true });
for (const name of readdirSync(cache)) {
  const path = join(cache, name);
  if (Date.now() - statSync(path).mtimeMs > keepMilliseconds) rmSync(path, { recursive: true, force: true });
}
const folder = mkdtempSync(join(cache, `${program.replaceAll('/', '-')}-`));
const inputs = await bundle([program], folder, { sourcemap: true });
// Packages change only with the list of what is installed.
const stamped = [
  ...inputs.filter((file) => !file.startsWith('node_modules/')),
  ...(inputs.includes(validatorsFile) ? sourcesOfValidators(root) : []),
  'node_modules/.package-lock.json',
  'scripts/support/bundle.ts',
];
const record = { folder, inputs: Object.fromEntries(stamped.map((file) => [file, stampOf(file)])) };
// Renamed, because another command may be reading it.
writeFileSync(`${folder}.json`, JSON.stringify(record));
renameSync(`${folder}.json`, recordFile);
