// CPU time and memory of processes, from /proc. Other systems than Linux have none: then the numbers are NaN, shown as a dash.
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** CPU seconds by process ID. */
export type Usage = ReadonlyMap<number, number>;

const hasProc = existsSync('/proc/self/schedstat');

const read = (file: string): string => {
  try {
    return readFileSync(`/proc/${file}`, 'utf8');
  } catch {
    return ''; // It has ended.
  }
};

/** Of all threads, in nanoseconds. The clock ticks of `stat` are too coarse for ten backends in a round of a second. */
function cpuSeconds(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const times = threads.map((thread) => Number(read(`${pid}/task/${thread}/schedstat`).split(' ')[0]));
    return times.reduce((sum, time) => sum + time, 0) / 1e9;
  } catch {
    return 0;
  }
}

/** The process and its children, such as a postmaster with its backends. */
const withChildren = (pid: number): number[] =>
  `${pid} ${read(`${pid}/task/${pid}/children`)}`.trim().split(' ').map(Number);

export const usageOf = (pid: number): Usage => new Map([[pid, hasProc ? cpuSeconds(pid) : NaN]]);

/** None for a subject without PostgreSQL. */
export const usageOfTree = (pid: number | undefined): Usage =>
  new Map(pid === undefined || !hasProc ? [] : withChildren(pid).map((one) => [one, cpuSeconds(one)]));

/** A process that has ended in between counts as nothing: connection pools keep theirs while they are busy. */
export const usedBetween = (before: Usage, after: Usage): number =>
  [...after].reduce((sum, [pid, seconds]) => sum + seconds - (before.get(pid) ?? 0), 0);

/** Resident memory. */
export const megabytesOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(read(`${pid}/status`))?.[1] ?? NaN) / 1000;
