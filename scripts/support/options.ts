import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Reads the options of a command, and prints its help if that is asked for. A wrong option ends it with 2. */
export function readOptions<const T extends NonNullable<ParseArgsConfig['options']>>(
  options: T,
  help: string,
) {
  if (process.argv.includes('--help')) {
    console.log(help);
    process.exit(0);
  }
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    process.exit(2);
  }
}
