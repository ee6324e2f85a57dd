// `npm run new` asks whether `npm run dev` runs, which generates after each save: both at once would write the same files.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/root.ts';

export const devFolder = join(root, '.cache', 'dev');
const file = join(devFolder, 'pid');

/** Returns what takes it back. */
export function noteRunning(): () => void {
  writeFileSync(file, String(process.pid));
  return () => {
    rmSync(file, { force: true });
  };
}

export function isDevRunning(): boolean {
  try {
    return process.kill(Number(readFileSync(file, 'utf8')), 0);
  } catch {
    // It never ran, or was killed.
    return false;
  }
}
