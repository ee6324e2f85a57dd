// What the system says about processes and failed calls.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export const run = promisify(execFile);

/** Whether a failed call, of the system or of PostgreSQL, carries one of these codes. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
  );
}

/**
 * When the process with this id started, in the kernel's own words; undefined when no such process lives.
 * Ids are used again, the pair of id and start is not. A zombie counts as gone: in a container nobody may
 * ever collect it.
 */
export async function startOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    // The second field is the program's name, which may hold blanks and brackets: count from its end.
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
 * The arguments of a process, or one text of them all where the system keeps no list; empty if it is gone.
 * Everybody may read these. The folder a process works in would tell as much, but root in a container may not
 * see it.
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

/**
 * Whether this is the main process of the PostgreSQL on that data folder. Its children change their
 * arguments.
 */
export async function servesData(pid: number, data: string): Promise<boolean> {
  return (await argumentsOf(pid)).includes(data);
}
