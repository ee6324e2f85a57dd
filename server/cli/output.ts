// Shared by all commands of `payments`: errors, and output for people and for programs. Must stay fast to load.
import { visible, visibleJson } from '../visible.ts';
import { tableLines } from './table.ts';

/** A mistake of the operator: printed as one sentence, exit code 1. */
export class Refused extends Error {}

export const noSandbox = (dataDir: string): Refused =>
  new Refused(
    `There is no sandbox in ${dataDir}. Call payments in the folder of the service, or set DATA_DIR. To create a sandbox: npm start`,
  );

const stopMilliseconds = 19_000;

/** Resolves at Ctrl-C (SIGINT), SIGTERM, or when the terminal is closed (SIGHUP). */
export const untilStopped = (): Promise<void> =>
  new Promise((resolve) => {
    // A signal handler alone does not keep a process alive.
    const alive = setInterval(() => undefined, 60_000);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => {
        clearInterval(alive);
        // For what the command still waits for then. Without anything to wait for, the process ends by itself.
        setTimeout(() => process.exit(1), stopMilliseconds).unref();
        resolve();
      });
  });

export const jsonText = (value: unknown): string => visibleJson(JSON.stringify(value, null, 2));

export const printJson = (value: unknown): void => {
  console.log(jsonText(value));
};

/** Prints a table for people, or the same rows as JSON for programs. */
export function printRows(
  rows: Record<string, unknown>[],
  json: boolean | undefined,
  whenEmpty: string,
  /** What to print for an empty list, by column. */
  empty: Record<string, string> = {},
): void {
  if (json) {
    printJson(rows);
    return;
  }
  if (rows.length === 0) {
    console.log(whenEmpty);
    return;
  }
  const names = Object.keys(rows[0] ?? {});
  const text = rows.map((row) => names.map((name) => visible(cell(row[name], empty[name]))));
  // Programs that read a pipe get everything. A terminal that does not know its width says 0.
  const columns = (process.stdout.isTTY && process.stdout.columns) || undefined;
  for (const line of tableLines([names, ...text], columns)) console.log(line);
}

function cell(value: unknown, empty = 'none'): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.length === 0 ? empty : value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export const list = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);

/** A word for a command line that is printed to be copied. */
export const shellWord = (word: string): string =>
  /^[\w./:@,=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

export const collect = (value: string, before: string[]): string[] => [...before, value];
