// Runs programs and scripts as the user that PostgreSQL runs as, in its folder. Root must not change anything in there itself:
// that user can exchange a file or folder for a link between two of our calls.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Place } from './place.ts';

export const run = promisify(execFile);

/** `$1` and so on are the arguments; `input` is its standard input, for what must not be an argument. */
export async function runScript(
  place: Place,
  script: string,
  args: string[] = [],
  input = '',
): Promise<void> {
  const running = run('/bin/sh', ['-c', `umask 077\n${script}`, 'payments-database', ...args], {
    ...place.identity,
    cwd: place.directory,
    // Not our environment: PGDATA, PGOPTIONS or a locale would change what PostgreSQL does.
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' },
  });
  // The script may end without reading its input.
  running.child.stdin?.on('error', () => undefined).end(input);
  await running;
}
