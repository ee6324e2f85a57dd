// Reads secrets and answers from standard input, and Ctrl-C. Arguments are not secret: other users of the machine can see them.
import { createInterface as createReader } from 'node:readline';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { OperatorFault } from '../faults.ts';

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

/** Asks before what is hard or impossible to undo, and ends the command unless the answer is yes. */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new OperatorFault(`${question} Without a terminal to ask at, add --yes.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C means no.
  const answer = await terminal.question(`${question} Type yes: `).catch(() => 'no');
  terminal.close();
  if (answer.trim() !== 'yes') throw new OperatorFault('Nothing was changed.');
}

const stopMilliseconds = 19_000;

/** Resolves at Ctrl-C (SIGINT), SIGTERM, or when the terminal is closed (SIGHUP); or when nobody reads the output any more. */
export const untilStopped = ({ orUnread = false } = {}): Promise<void> =>
  new Promise((resolve) => {
    // A signal handler alone does not keep a process alive.
    const alive = setInterval(() => undefined, 60_000);
    const stop = () => {
      clearInterval(alive);
      // Ends the process if the command does not finish in time.
      setTimeout(() => process.exit(1), stopMilliseconds).unref();
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
    if (orUnread) process.stdout.once('error', stop);
  });
