// How a program that started the sandbox (`start --json`) talks to it: in lines.
import { createInterface } from 'node:readline';
import { reasonOf } from '../../server/kit/faults.ts';
import { sandboxKeyFile } from '../../server/kit/secrets/secrets-file.ts';
import type { Running } from '../../server/run.ts';

export interface Sandbox extends Running {
  dataDir: string;
  /** Only of a temporary one. */
  reset?: () => Promise<void>;
}

const print = (facts: object): void => {
  process.stdout.write(`${JSON.stringify(facts)}\n`);
};

const printAddress = ({ url, dataDir }: Sandbox): void => {
  print({ url, key_file: sandboxKeyFile(dataDir), data_dir: dataDir });
};

/**
 * Prints a line when the sandbox is ready. Then each line of standard input is a command, and has a line as its answer. Stops when
 * standard input ends, from the beginning: the program may be gone before the sandbox has started.
 */
export async function obey(starting: Promise<Sandbox>, stop: (why: string) => void): Promise<void> {
  const lines = createInterface({ input: process.stdin });
  lines.once('close', () => {
    stop('standard input has ended');
  });
  // It may be gone before it has read everything, the log of the stop too.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  const sandbox = await starting.catch(() => undefined);
  if (!sandbox || process.stdin.readableEnded) return;
  printAddress(sandbox);
  for await (const line of lines) {
    if (line !== 'reset') print({ error: `There is no command ${JSON.stringify(line)}: only reset.` });
    else if (!sandbox.reset) print({ error: 'Only a sandbox with --data temporary can be reset.' });
    else
      try {
        await sandbox.reset();
        printAddress(sandbox);
      } catch (error) {
        print({ error: `The sandbox could not be reset, and ends: ${reasonOf(error)}` });
        stop('a reset has failed');
      }
  }
}
