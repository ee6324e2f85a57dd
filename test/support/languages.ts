/** Runs a file of code in the language of its ending. */
import { findPython, needs, runs } from '../../scripts/nightly/needs.ts';
import { run, type CommandOptions } from './processes.ts';

/** What it is started with or, if that is not there, what to install. */
interface Language {
  command?: string[];
  missing?: string;
}

const either = (isThere: boolean, command: string[], ...packages: readonly string[]): Language =>
  isThere ? { command } : { missing: packages.join(' and ') };

const { python, php, go } = needs;

/** Looked for when a test needs it. */
const languages: Record<string, () => Language> = {
  sh: () => ({ command: ['sh'] }),
  mjs: () => ({ command: [process.execPath] }),
  mts: () => ({ command: [process.execPath, '--import', import.meta.resolve('tsx')] }),
  py: () => either(python.isThere(), [findPython() ?? ''], ...python.debian),
  php: () => either(php.isThere(), ['php'], ...php.debian),
  go: () => either(go.isThere(), ['go', 'run'], ...go.debian),
  rb: () => either(runs('ruby', '--version'), ['ruby'], 'ruby'),
  cs: () => either(runs('dotnet', 'run', '--help'), ['dotnet', 'run'], 'dotnet-sdk-10.0'),
  // It compiles the file, too.
  java: () => either(runs('java', '--describe-module', 'jdk.compiler'), ['java'], 'default-jdk-headless'),
};

const programOf = (files: string[]) => languages[files[0]?.split('.').at(-1) ?? '']?.();

/** What must be installed to run these files; undefined if it is. */
export const missingFor = (files: string[]) => programOf(files)?.missing;

/** The first says the language; Go takes all files of a program. */
export function runCode(files: string[], options: CommandOptions) {
  const [program = '', ...args] = programOf(files)?.command ?? [];
  return run(program, [...args, ...files], options);
}
