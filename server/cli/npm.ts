// `npm run payments token --scopes x` passes only `token x`: npm keeps options for itself, unless they come after `--`.
import type { Command } from 'commander';
import { readNpmRun } from '../config.ts';
import { WrongCall } from './faults.ts';

export function refuseKeptOptions(program: Command, args: readonly string[]): void {
  const npm = readNpmRun();
  // npm would have kept this one, too, so there was a `--`.
  if (!npm || args.some((word) => word.startsWith('-'))) return;
  const { command, words } = calledCommand(program, args);
  const kept = command.options.filter(({ long }) => long && npm.hasKept(long));
  if (kept.length === 0) return;
  const needed = command.registeredArguments.map((argument) => `<${argument.name()}>`);
  const line = [...words, ...needed, ...kept.map(({ flags }) => flags)].join(' ');
  const names = kept.map(({ long }) => long).join(', ');
  throw new WrongCall([
    `npm kept ${names} for itself. Options need -- before them. Write: npm run -s payments -- ${line}`,
  ]);
}

function calledCommand(program: Command, args: readonly string[]): { command: Command; words: string[] } {
  let command = program;
  const words: string[] = [];
  for (const word of args) {
    const sub = command.commands.find((one) => one.name() === word);
    if (!sub) break;
    command = sub;
    words.push(word);
  }
  return { command, words };
}
