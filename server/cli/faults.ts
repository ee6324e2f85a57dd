// Commander stops at the first fault of a call. Here all of them are collected, so that one answer names them all.
import { InvalidArgumentError, Option, type Argument, type Command } from 'commander';
import { OperatorFault } from '../operator-fault.ts';

/** Everything that is wrong with a call, one fault per line. */
export class WrongCall extends OperatorFault {
  override readonly exitCode = 2;

  constructor(usage: readonly string[], values: readonly string[] = []) {
    super([...usage, ...values, ...(usage.length > 0 ? ['(add --help for more)'] : [])].join('\n'));
  }
}

export const everyCommand = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap((sub) => everyCommand(sub)),
];

/** Makes the commands throw a WrongCall before their action begins. */
export function collectFaults(program: Command, args: readonly string[]): void {
  // Of the command line, which commander understands differently than its author meant.
  const usage: string[] = [];
  // Of values: what the parsers in values.ts refuse.
  const values: string[] = [];
  for (const command of everyCommand(program)) {
    const note = (message: string, { code }: { code?: string } = {}) => {
      // An unknown option makes commander take its value for an argument.
      if (code === 'commander.excessArguments' && usage.length > 0) return;
      const hint =
        code === 'commander.missingArgument'
          ? choicesOf(command, message)
          : code === 'commander.unknownCommand'
            ? commandsOf(command)
            : '';
      usage.push(message + hint);
      if (code === 'commander.unknownOption') usage.push(...furtherUnknown(command, args));
      // A command that only has other commands has nothing more to check.
      if (command.commands.length > 0) throw new WrongCall(usage);
    };
    // The type says that it never returns. It may: the hook below stops the call.
    command.error = note as Command['error'];
    for (const part of [...command.options, ...command.registeredArguments])
      collectFrom(part, {
        refused: (message) => values.push(message),
        invalid: (message) => usage.push(message),
      });
  }
  program.hook('preAction', () => {
    if (usage.length + values.length > 0) throw new WrongCall(usage, values);
  });
}

/** Of a missing argument that commander names but does not explain. */
function choicesOf(command: Command, message: string): string {
  const missing = command.registeredArguments.find((argument) => message.endsWith(`'${argument.name()}'`));
  return missing?.argChoices ? `. Choose one of: ${missing.argChoices.join(', ')}` : '';
}

/** Of a noun, such as `secrets`. Those of the program are too many for an error. */
const commandsOf = (command: Command): string =>
  command.parent
    ? `\n${command.name()} has these commands: ${command.commands.map((sub) => sub.name()).join(', ')}`
    : '';

function collectFrom(
  part: Option | Argument,
  note: { refused: (message: string) => void; invalid: (message: string) => void },
): void {
  const parse = part.parseArg;
  if (!parse) return;
  part.parseArg = <T>(value: string | undefined, previous: T): T => {
    // Noted by commander: the option came last, without its argument.
    if (value === undefined) return previous;
    try {
      return parse.call(part, value, previous) as T;
    } catch (error) {
      if (error instanceof OperatorFault) note.refused(error.message);
      else if (error instanceof InvalidArgumentError)
        note.invalid(
          part instanceof Option
            ? `error: option '${part.flags}' argument '${value}' is invalid. ${error.message}`
            : `error: argument '${part.name()}' cannot be '${value}'. ${error.message}`,
        );
      else throw error;
      return previous;
    }
  };
}

/** Commander names only the first. */
function furtherUnknown(command: Command, args: readonly string[]): string[] {
  const known = new Set(['--help', ...command.options.map(({ long }) => long)]);
  const given = args.filter((word) => /^--\w/.test(word)).map((word) => word.split('=', 1)[0] ?? '');
  return given
    .filter((option) => !known.has(option))
    .slice(1)
    .map((option) => `error: unknown option '${option}'`);
}
