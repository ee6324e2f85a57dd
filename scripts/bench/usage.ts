// CPU time and memory of processes, from /proc. Other systems than Linux have none, and the bench then shows throughput only.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';

const hasProc = existsSync('/proc/self/stat');
const ticksPerSecond = hasProc ? Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) : 100;

const read = (pid: number, file: string): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
};

/** User and system time; undefined if there is no such process, or no /proc. */
export const cpuSeconds = (pid: number): number | undefined => exactSeconds(pid) ?? countedSeconds(pid);

/** Nanoseconds of all threads. The clock ticks of `stat` are too coarse for ten backends in a round of a second. */
function exactSeconds(pid: number): number | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map((thread) =>
      Number(read(pid, `task/${thread}/schedstat`)?.split(' ')[0]),
    );
    const sum = threads.reduce((total, nanoseconds) => total + nanoseconds, 0);
    return sum > 0 ? sum / 1e9 : undefined;
  } catch {
    return undefined;
  }
}

function countedSeconds(pid: number): number | undefined {
  // The second field is the name of the program, in parentheses, and may contain blanks.
  const fields = read(pid, 'stat')?.split(') ').at(-1)?.split(' ');
  return fields && (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

export function residentBytes(pid: number): { now: number; most: number } | undefined {
  const status = read(pid, 'status');
  const of = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status ?? '')?.[1]) * 1024;
  // A process that has just ended still has a status, but no memory.
  return status?.includes('VmHWM') ? { now: of('VmRSS'), most: of('VmHWM') } : undefined;
}

/** CPU seconds so far, by process ID. */
export type Usage = ReadonlyMap<number, number>;

export interface Meter extends AsyncDisposable {
  /** Of the backends whose application name begins so. */
  backends: (applicationName: string) => Promise<Usage>;
}

export function openMeter(databaseUrl: string): Meter {
  const pool = new pg.Pool({ connectionString: databaseUrl, application_name: 'bench', max: 1 });
  return {
    async backends(applicationName) {
      const { rows } = await pool.query<{ pid: number }>(
        'select pid from pg_stat_activity where starts_with(application_name, $1)',
        [applicationName],
      );
      return new Map(rows.flatMap(({ pid }) => [[pid, cpuSeconds(pid) ?? NaN] as const]));
    },
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

/** A backend that ended in between counts as nothing: the pools keep theirs while they are busy. */
export const usedBetween = (before: Usage, after: Usage): number =>
  [...after].reduce((sum, [pid, seconds]) => sum + seconds - (before.get(pid) ?? 0), 0);
