// Starts PostgreSQL under a watchdog: a shell, because it outlives us, weighs one megabyte and needs no file
// that whom PostgreSQL runs as may be unable to read.
import { spawn } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { environment } from './cluster.ts';
import type { Place } from './placement.ts';
import { hasCode } from './process.ts';

/**
 * The starter holds the other end of standard input, each adopter the writing end of the pipe `users.<pid>`;
 * the kernel closes both at any kind of death. When the starter is gone and no adopter is left, PostgreSQL is
 * stopped.
 * - Opening the pipe for both directions first keeps the opening for reading from waiting for a writer.
 * - The pipe is removed before the last look: who opened it until then is seen, who comes later finds none.
 * - The signal is repeated because PostgreSQL may be too young to have heard it.
 */
const script = `
umask 077
exec 2>>postgres.log
mkfifo "users.new.$$" || exit 1
exec 3<>"users.new.$$" 4<"users.new.$$" 5<&0 3>&-
"$@" </dev/null >>postgres.log 4<&- 5<&- &
postmaster=$!
mv "users.new.$$" "users.$postmaster"
echo "$postmaster"
exec >>postgres.log
(
  read -r line <&5
  read -r line <&4
  rm -f "users.$postmaster"
  read -r line <&4
  while kill -INT "$postmaster"; do sleep 1; done
) 2>/dev/null &
watcher=$!
exec 4<&- 5<&-
wait "$postmaster"
kill "$watcher"
rm -f "users.$postmaster"
`;

export interface Watched {
  /** PostgreSQL's main process. */
  pid: number;
  /** Whether the watchdog is still there: it ends with PostgreSQL. */
  lives(): boolean;
  /** Lets go: PostgreSQL stops unless somebody adopted it. */
  release(): void;
}

export async function startWatched(place: Place, command: string[]): Promise<Watched> {
  const child = spawn('/bin/sh', ['-c', script, 'payments-database', ...command], {
    ...place.identity,
    cwd: place.directory,
    env: environment,
    // Out of our process group: Ctrl-C is for us, and we stop the database after what needs it.
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  const pid = Number.parseInt(await text(child.stdout), 10);
  // None of this keeps a process alive that has nothing else to do.
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return {
    pid,
    lives: () => !Number.isNaN(pid) && child.exitCode === null && child.signalCode === null,
    release: () => child.stdin.destroy(),
  };
}

/**
 * Makes us a user of the PostgreSQL that runs there; undefined if it has no watchdog, or one about to stop
 * it.
 */
export function joinUsers(place: Place, pid: number): (() => void) | undefined {
  try {
    const handle = openSync(join(place.directory, `users.${pid}`), constants.O_WRONLY | constants.O_NONBLOCK);
    let open = true;
    return () => {
      if (open) closeSync(handle);
      open = false;
    };
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENXIO')) return undefined;
    throw error;
  }
}

/** Whether somebody has joined: reading from a pipe that has writers would have to wait, from one without it ends. */
export function hasUsers(place: Place, pid: number): boolean {
  try {
    const handle = openSync(join(place.directory, `users.${pid}`), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return readSync(handle, Buffer.alloc(1)) > 0;
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    if (hasCode(error, 'EAGAIN')) return true;
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}
