// Reads secrets and answers from standard input. Arguments are not secret: other users of the machine can see them.
import { createInterface as createReader } from 'node:readline';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { OperatorFault } from '../operator-fault.ts';

export async function readSecretLine(what: string): Promise<string> {
  if (process.stdin.isTTY) return readHiddenLine(what);
  // Without this hint, a command with an open but empty standard input would seem to hang.
  const hint = setTimeout(() => {
    process.stderr.write(`Waiting for a line on standard input (${what}).\n`);
  }, 2_000);
  let text = '';
  try {
    for await (const chunk of process.stdin.setEncoding('utf8')) {
      text += chunk as string;
      if (text.includes('\n')) break;
      if (text.length > 1_000) throw new OperatorFault(`${what} is too long.`);
    }
  } finally {
    clearTimeout(hint);
  }
  return text.split('\n', 1)[0]?.trim() ?? '';
}

/** At a terminal readline shows what is typed itself, and here it has nowhere to show it. */
async function readHiddenLine(what: string): Promise<string> {
  const nowhere = new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  const terminal = createReader({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  process.stderr.write(`${what}: `);
  try {
    return await new Promise<string>((resolve, reject) => {
      terminal.once('line', (line) => {
        resolve(line.trim());
      });
      // Ctrl-C and Ctrl-D.
      terminal.once('close', () => {
        reject(new OperatorFault('Nothing was typed.'));
      });
    });
  } finally {
    process.stderr.write('\n');
    terminal.close();
  }
}

/** Whether the operator, who must be at a terminal, types yes. */
export async function asksYes(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(`${question} Type yes: `)).trim() === 'yes';
  } catch (error) {
    // Ctrl-C means no.
    if ((error as NodeJS.ErrnoException).code === 'ABORT_ERR') return false;
    throw error;
  } finally {
    terminal.close();
  }
}
