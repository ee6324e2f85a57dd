/** Runs a file of code in the language of its ending. CI has all of these programs. */
import { spawnSync } from 'node:child_process';
import { run, type CommandOptions } from './processes.ts';

const runs = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

const pythonModules = 'import cryptography, jwt, requests';

/** Looked for when a test needs it: what is started with and, if it is not there, what to install. */
const programs: Record<string, () => { command: string[]; missing?: string }> = {
  sh: () => ({ command: ['sh'] }),
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

/** What must be installed to run files with this ending; undefined if it is. */
export const missingFor = (ending: string) => programs[ending]?.().missing;

/** The file comes first; further arguments are those of the program. */
export function runCode(files: string[], options: CommandOptions) {
  const ending = files[0]?.split('.').at(-1) ?? '';
  const [program = '', ...args] = programs[ending]?.().command ?? [];
  return run(program, [...args, ...files], options);
}
