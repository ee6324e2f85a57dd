// `node scripts/run.js server/main.ts …`: runs a program of the project from a bundle, which is made again when a file of it
// has changed. A bundle starts in a third of the time that it takes to compile TypeScript and to find hundreds of files.
// This file is JavaScript, so that nothing must be compiled before it runs.
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { mapStacks } from './support/stacks.js';

const root = join(import.meta.dirname, '..');
const [program = '', ...args] = process.argv.slice(2);
const recordFile = join(root, '.cache', `${program.replaceAll('/', '-')}.json`);

/** @returns {{ folder: string, inputs: Record<string, string> } | undefined} what scripts/bundle.ts wrote */
function readRecord() {
  try {
    return JSON.parse(readFileSync(recordFile, 'utf8'));
  } catch {
    return undefined;
  }
}

/** @param {string} file */
function isUnchanged(file, stamp = '') {
  const stat = statSync(join(root, file), { throwIfNoEntry: false });
  return stat !== undefined && `${stat.mtimeMs} ${stat.size}` === stamp;
}

/** @returns {string | undefined} the folder of a bundle that fits the files of the project */
function currentBundle() {
  const record = readRecord();
  if (!record || !statSync(record.folder, { throwIfNoEntry: false })) return undefined;
  return Object.entries(record.inputs).every(([file, stamp]) => isUnchanged(file, stamp))
    ? record.folder
    : undefined;
}

// What is served is what openapi/ says, also after an edit.
if (program === 'server/main.ts' || program === 'mock/main.ts') {
  const regenerate = [import.meta.filename, 'scripts/regenerate-if-stale.ts'];
  const { status } = spawnSync(process.execPath, regenerate, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

let folder = currentBundle();
if (folder === undefined) {
  const script = ['--import', 'tsx', join(root, 'scripts', 'bundle.ts'), program, recordFile];
  const { status } = spawnSync(process.execPath, script, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) process.exit(status ?? 1);
  folder = readRecord()?.folder ?? '';
}
const file = join(folder, program.replace(/\.ts$/, '.js'));
process.argv = [process.argv[0] ?? 'node', file, ...args];
mapStacks();
await import(pathToFileURL(file).href);
