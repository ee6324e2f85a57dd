/** Runs a file of code in the language of its ending. */
import { spawnSync } from 'node:child_process';
import { run, type CommandOptions } from './processes.ts';

const runs = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

const pythonModules = 'import cryptography, jwt, requests';

/** Looked for when a test needs it: what is started with and, if it is not there, what to install. */
const programs: Record<string, () => { command: string[]; missing?: string }> = {
  sh: () => ({ command: ['sh'] }),
  mjs: () => ({ command: [process.execPath] }),
  rb: () => (runs('ruby', '--version') ? { command: ['ruby'] } : { command: [], missing: 'ruby' }),
  cs: () =>
    runs('dotnet', 'run', '--help')
      ? { command: ['dotnet', 'run'] }
      : { command: [], missing: 'dotnet-sdk-10.0' },
  // It compiles the file, too.
  java: () =>
    runs('java', '--describe-module', 'jdk.compiler')
      ? { command: ['java'] }
      : { command: [], missing: 'default-jdk-headless' },
  mts: () => ({ command: [process.execPath, '--import', import.meta.resolve('tsx')] }),
  py: () => {
    // Debian's has the packages of Debian; another one may be first in the path.
    const found = ['python3', '/usr/bin/python3'].find((program) => runs(program, '-c', pythonModules));
    return found ? { command: [found] } : { command: [], missing: 'python3-jwt and python3-requests' };
  },
  php: () =>
    runs('php', '-r', 'exit(function_exists("curl_init") ? 0 : 1);')
      ? { command: ['php'] }
      : { command: [], missing: 'php-cli and php-curl' },
  go: () => (runs('go', 'version') ? { command: ['go', 'run'] } : { command: [], missing: 'golang-go' }),
};

const programOf = (files: string[]) => programs[files[0]?.split('.').at(-1) ?? '']?.();

/** What must be installed to run these files; undefined if it is. */
export const missingFor = (files: string[]) => programOf(files)?.missing;

/** The first says the language; Go takes all files of a program. */
export function runCode(files: string[], options: CommandOptions) {
  const [program = '', ...args] = programOf(files)?.command ?? [];
  return run(program, [...args, ...files], options);
}
