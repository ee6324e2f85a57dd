// A program that a test starts and talks to in lines: the sandbox or the mock, with `--json`. It ends when its standard input
// does, which the kernel closes when the process of the test ends, however it ends. An idle program does not keep that process.
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { programName } from '../generated/operations.ts';

export interface Program<Facts> {
  /** What it printed when it was ready. */
  facts: Facts;
  /** Sends a command, and returns the answer. */
  ask: (command: string) => Promise<unknown>;
  /** Closes its standard input, and waits for its end. */
  close: () => Promise<void>;
  /** With the reason, when it has ended. */
  ended: Promise<string>;
}

interface Waiting {
  resolve: (answer: unknown) => void;
  reject: (error: Error) => void;
}

/** After this the program has cleaned up, or never will. */
const closeMilliseconds = 25_000;

/** Of another installation: see server/kit/installation.ts. */
const settings = `${programName.toUpperCase().replaceAll('-', '_')}_SETTINGS`;

/** Of the test runner, which may preload modules that print lines, of other databases, and of another installation. */
const isForOthers = (name: string) =>
  /^(NODE_OPTIONS|NODE_V8_COVERAGE|PG[A-Z]+)$/.test(name) || name === settings;

export async function startProgram<Facts>(file: string, args: string[]): Promise<Program<Facts>> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !isForOthers(name)));
  const child = spawn(process.execPath, [file, ...args], {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    // Not in the process group of the test: what kills all of that would leave it no time to clean up. On Windows it means a window.
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  const pipes = [child.stdin, child.stdout, child.stderr] as unknown as Socket[];
  const waiting: Waiting[] = [];
  const wait = async (): Promise<unknown> => {
    if (waiting.length === 0) for (const one of [child, ...pipes]) one.ref();
    try {
      return await new Promise<unknown>((resolve, reject) => waiting.push({ resolve, reject }));
    } finally {
      if (waiting.length === 0) for (const one of [child, ...pipes]) one.unref();
    }
  };
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)));
  // It may end before it has read everything.
  child.stdin.on('error', () => undefined);
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith('{')) return;
    const { resolve, reject } = waiting.shift() ?? {};
    const answer = JSON.parse(line) as { error?: string };
    if (answer.error === undefined) resolve?.(answer);
    else reject?.(new Error(answer.error));
  });
  let reason: string | undefined;
  const ended = new Promise<string>((resolve) => {
    const end = (why: string) => {
      reason = why;
      for (const { reject } of waiting.splice(0)) reject(new Error(why));
      resolve(why);
    };
    child.once('error', (error) => {
      end(`${process.execPath} could not be started: ${error.message}`);
    });
    child.once('close', (status, signal) => {
      end(signal === null ? said.trim() || `It has ended (${status}).` : `It was ended by ${signal}.`);
    });
  });
  const facts = (await wait()) as Facts;
  return {
    facts,
    ended,
    ask: async (command) => {
      if (reason !== undefined) throw new Error(reason);
      child.stdin.write(`${command}\n`);
      return wait();
    },
    close: async () => {
      if (reason !== undefined) return;
      child.ref();
      child.stdin.end();
      const deadline = setTimeout(() => child.kill('SIGKILL'), closeMilliseconds);
      await ended;
      clearTimeout(deadline);
    },
  };
}
