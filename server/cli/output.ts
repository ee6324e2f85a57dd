// Shared by all commands of `payments`: errors, and output for people and for programs. Must stay fast to load.
import type { Command } from 'commander';
import { readCallName, readSettingsFile } from '../config.ts';
import { settingsHint } from '../hints.ts';
import { visible, visibleJson } from '../visible.ts';
import { OperatorFault } from '../operator-fault.ts';
import { tableLines, type TableOptions } from './table.ts';

export const noSandbox = (dataDir: string): OperatorFault =>
  new OperatorFault(
    `There is no sandbox in ${dataDir}. Call payments in the folder of the service, or set DATA_DIR. ${settingsHint()}`,
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

export interface ListOutput {
  json?: boolean | undefined;
  wide?: boolean | undefined;
}

/** The options of every command that prints a list. */
export const asList = (command: Command): Command =>
  command
    .option('--json', 'for programs: an object whose items are the rows')
    .option('--wide', 'all columns in full, also if they do not fit the terminal');

/** The option of every command that ends with a sentence. */
export const asResult = (command: Command): Command =>
  command.option('--json', 'for programs: the result as an object');

/** What such a command prints last. */
export const resultText = (json: boolean | undefined, result: object, sentence: string): string =>
  json ? jsonText(result) : sentence;

interface TableText extends Pick<TableOptions, 'least' | 'textMatters'> {
  whenEmpty: string;
  /** What to print for an empty list in a cell, by column. */
  empty?: Record<string, string>;
  /** Whether times have seconds on a terminal, too. */
  seconds?: boolean;
}

/** Prints a table for people, or the same rows as JSON for programs. */
export function printRows(
  rows: Record<string, unknown>[],
  { json = false, wide = false }: ListOutput,
  { whenEmpty, empty = {}, seconds = false, ...table }: TableText,
): void {
  if (json) {
    printJson({ items: rows });
    return;
  }
  if (rows.length === 0) {
    console.log(whenEmpty);
    return;
  }
  const { isTTY } = process.stdout;
  // Programs that read a pipe get everything. A terminal that does not know its width says 0.
  const columns = (isTTY && !wide && process.stdout.columns) || undefined;
  const time = columns === undefined ? fullTime : shortTime(new Date(), seconds);
  const names = Object.keys(rows[0] ?? {});
  const text = rows.map((row) => names.map((name) => visible(cell(row[name], time, empty[name]))));
  for (const line of tableLines([names, ...text], { columns, ...table })) console.log(line);
}

const fullTime = (at: Date): string => at.toISOString();

const halfYear = 183 * 86_400_000;

/** Like `ls -l`: without the year and in minutes, or seconds, if it is not long ago, otherwise the date only. In UTC. */
const shortTime =
  (now: Date, seconds: boolean) =>
  (at: Date): string => {
    const text = at.toISOString();
    return Math.abs(now.getTime() - at.getTime()) < halfYear
      ? text.slice(5, seconds ? 19 : 16).replace('T', ' ')
      : text.slice(0, 10);
  };

function cell(value: unknown, time: (at: Date) => string, empty = 'none'): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return time(value);
  if (Array.isArray(value)) return value.length === 0 ? empty : value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A command that is printed to be copied, as the operator called this one. */
export function call(args: string): string {
  const file = readSettingsFile();
  return [readCallName(), ...(file === undefined ? [] : ['--settings', shellWord(file)]), args].join(' ');
}

/** For a list of one account, or of all with `*`. */
export const noneIn = (noun: string, account: string): string =>
  account === '*'
    ? `There is no such ${noun}.`
    : `There is no such ${noun} in the account ${account}. To look in all accounts, add --merchant-account '*'`;

export const list = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);

/** A word for a command line that is printed to be copied. */
export const shellWord = (word: string): string =>
  /^[\w./:@,=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

export const collect = (value: string, before: string[]): string[] => [...before, value];
