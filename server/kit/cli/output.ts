// Shared by all commands: output for people and for programs. Must stay fast to load.
import type { Command } from 'commander';
import { programName } from '../../../generated/operations.ts';
import { OperatorFault } from '../faults.ts';
import { settingsHint } from '../installation.ts';
import { visible, visibleLines } from '../log/visible.ts';
import { allAccounts } from '../rules/accounts.ts';

/** For what Commander cannot know: options that need or exclude each other. */
export class WrongCall extends OperatorFault {
  override readonly exitCode = 2;
}

export const noSandbox = (dataDir: string): OperatorFault =>
  new OperatorFault(
    `There is no sandbox in ${dataDir}. Call ${programName} in the folder of the service, or set DATA_DIR. ${settingsHint()}`,
  );

export const jsonText = (value: unknown): string => visibleLines(JSON.stringify(value, null, 2));

export const printJson = (value: unknown): void => {
  console.log(jsonText(value));
};

/** Every command has it: main.ts. */
export interface JsonOption {
  json?: boolean | undefined;
}

export const printResult = ({ json }: JsonOption, result: object, sentence: string): void => {
  console.log(json ? jsonText(result) : visibleLines(sentence));
};

export const pick = <Row, Name extends keyof Row & string>(rows: readonly Row[], ...names: Name[]) =>
  rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));

export function printRows(
  rows: Record<string, unknown>[],
  { json = false }: JsonOption,
  whenEmpty: string,
): void {
  if (json) {
    printJson({ items: rows });
    return;
  }
  if (rows.length === 0) {
    console.log(whenEmpty);
    return;
  }
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => visible(cell(row[name]))))];
  const widths = names.map((_, column) =>
    lines.reduce((most, cells) => Math.max(most, cells[column]?.length ?? 0), 0),
  );
  for (const cells of lines)
    console.log(
      cells
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export const withExamples = (command: Command, ...calls: string[]): Command =>
  command.addHelpText(
    'after',
    [
      '',
      calls.length > 1 ? 'Examples:' : 'Example:',
      ...calls.map((args) => `  ${programName} ${args}`),
    ].join('\n'),
  );

/** For a list of one account, or of all with `*`. */
export const noneIn = (noun: string, account: string): string =>
  account === allAccounts
    ? `There is no such ${noun}.`
    : `There is no such ${noun} in the account ${account}. To look in all accounts, add --merchant-account '*'`;
