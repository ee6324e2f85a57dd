// Facts about processes, and error codes of failed calls.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export const run = promisify(execFile);

/** Whether the error of a system call or of PostgreSQL has one of these codes. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
  );
}

/**
 * When this process started, in the kernel's format; undefined when no such process runs. Process IDs are reused,
 * the pair of ID and start time is not. A zombie counts as ended: in a container it may never be reaped.
 */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    // The second field is the program's name in brackets, which may contain spaces and brackets itself.
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields?.[0] === 'Z' || fields?.[0] === 'X' ? undefined : fields?.[19];
  }
  try {
    process.kill(pid, 0);
    return 'unknown';
  } catch (error) {
    return hasCode(error, 'EPERM') ? 'unknown' : undefined;
  }
}

/**
 * The arguments of a process; empty if it has ended. Every user may read them. The working directory would do as
 * well, but root in a container may not be allowed to read that.
 */
async function argumentsOf(pid: number): Promise<string[]> {
  if (process.platform === 'linux') {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  }
  return run('ps', ['-p', String(pid), '-o', 'command=']).then(
    ({ stdout }) => stdout.split(/(?<=-D) | (?=-c)/),
    () => [],
  );
}

/** Whether this is the main process of the PostgreSQL on that data folder. Its child processes change their arguments. */
export async function isPostmasterOf(pid: number, data: string): Promise<boolean> {
  return (await argumentsOf(pid)).includes(data);
}

/** Tells whether that process still runs, if it is that postmaster now. Linux takes the arguments from a process before it has closed its files. */
export async function watchPostmaster(pid: number, data: string): Promise<() => Promise<boolean>> {
  if (process.platform !== 'linux') return () => isPostmasterOf(pid, data);
  const started = (await isPostmasterOf(pid, data)) ? await startTimeOf(pid) : undefined;
  return async () => started !== undefined && (await startTimeOf(pid)) === started;
}
