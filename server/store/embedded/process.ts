// What the kernel says about processes and failed calls. Nothing here knows about PostgreSQL.
import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';

export const run = promisify(execFile);

/** Whether a failed call, of the system or of PostgreSQL, carries one of these codes. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    codes.includes(error.code)
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

/** Whether this process works in that folder: PostgreSQL's main process always works in its data folder. */
export async function worksIn(pid: number, directory: string): Promise<boolean> {
  if (process.platform === 'linux') {
    return (await readlink(`/proc/${pid}/cwd`).catch(() => undefined)) === directory;
  }
  const listed = await run('ps', ['-p', String(pid), '-o', 'command=']).catch(() => undefined);
  return listed?.stdout.includes(directory) ?? false;
}
