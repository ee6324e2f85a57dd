// Starts PostgreSQL under a watchdog process, which stops it when no process uses it any more, even after kill -9.
// The watchdog is a shell script: it outlives us, needs 1 MB and no file that PostgreSQL's user may not read.
import { spawn } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Place } from './placement.ts';
import { hasCode } from './process.ts';
import { environment } from './shell.ts';

/**
 * The process that started PostgreSQL holds the other end of standard input; every process that attached holds
 * the write end of the pipe `users.<pid>`. The kernel closes these when a process ends, however it ends. The
 * watchdog reads both to their end and then stops PostgreSQL.
 * - The log of the previous start is kept; pipes and sockets that a killed watchdog or PostgreSQL left are removed.
 * - The pipe is opened for reading and writing first, because opening it for reading alone waits for a writer.
 * - The pipe is removed and then read once more: a process that opened it before is noticed, later ones find none.
 * - The signal is repeated, because PostgreSQL may not have installed its signal handler yet.
 */
const script = `
umask 077
mv -f postgres.log postgres.log.previous 2>/dev/null
exec 2>>postgres.log
rm -f users.* .s.PGSQL.*
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

// Its owner may have planted a link in its place.
const openPipe = constants.O_NONBLOCK | constants.O_NOFOLLOW;

export interface Watched {
  /** PostgreSQL's main process. */
  pid: number;
  /** Whether the watchdog still runs; it ends with PostgreSQL. */
  isAlive(): boolean;
  /** Ends our use of PostgreSQL; it stops unless another process is attached. */
  release(): void;
}

export async function startWatched(place: Place, command: string[]): Promise<Watched> {
  const child = spawn('/bin/sh', ['-c', script, 'payments-database', ...command], {
    ...place.identity,
    cwd: place.directory,
    env: environment,
    // In its own process group, so that Ctrl-C reaches only us: the database is stopped last.
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  const pid = Number.parseInt(await text(child.stdout), 10);
  // The child and its pipe must not keep our process alive.
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return {
    pid,
    isAlive: () => !Number.isNaN(pid) && child.exitCode === null && child.signalCode === null,
    release: () => child.stdin.destroy(),
  };
}

/**
 * Registers us as a user of the running PostgreSQL and returns how to end that. Undefined if it has no watchdog,
 * or if the watchdog is about to stop it.
 */
export function joinUsers(place: Place, pid: number): (() => void) | undefined {
  try {
    const handle = openSync(join(place.directory, `users.${pid}`), openPipe | constants.O_WRONLY);
    let open = true;
    return () => {
      if (open) closeSync(handle);
      open = false;
    };
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENXIO', 'ELOOP')) return undefined;
    throw error;
  }
}

/** Whether a process is attached: reading the pipe fails with EAGAIN if it has writers, and ends if it has none. */
export function hasUsers(place: Place, pid: number): boolean {
  try {
    const handle = openSync(join(place.directory, `users.${pid}`), openPipe | constants.O_RDONLY);
    try {
      return readSync(handle, Buffer.alloc(1)) > 0;
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    if (hasCode(error, 'EAGAIN')) return true;
    if (hasCode(error, 'ENOENT', 'ELOOP')) return false;
    throw error;
  }
}
