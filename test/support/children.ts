/** The server and the command line as processes of their own, as people run them: they can be killed. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

const root = join(import.meta.dirname, '..', '..');

export interface ChildOptions {
  env?: Record<string, string | undefined>;
  nodeOptions?: string[];
  /** The project to run it in; this one by default. */
  folder?: string;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** One process, not a tree of them: a signal meets the program itself. */
export function startNode(
  script: string,
  args: string[],
  { env = {}, nodeOptions = [], folder = root }: ChildOptions,
): Child {
  const child = spawn(process.execPath, [...nodeOptions, '--import', 'tsx', join(folder, script), ...args], {
    cwd: folder,
    // Nothing of the caller's configuration.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1', TZ: 'UTC', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined);
  return child;
}

export interface Ended {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export async function ended(child: Child): Promise<Ended> {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
  const [status, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { status, signal, stdout: stdout.join(''), stderr: stderr.join('') };
}

export type Payments = (args: string[], input?: string | Readable, nodeOptions?: string[]) => Promise<Ended>;

/** `payments …` with this configuration. */
export const createPayments =
  (env: ChildOptions['env'] = {}): Payments =>
  (args, input = '', nodeOptions = []) => {
    const child = startNode('server/cli/main.ts', args, { env, nodeOptions });
    if (typeof input === 'string') child.stdin.end(input);
    else input.pipe(child.stdin);
    return ended(child);
  };

export interface ServerProcess {
  url: string;
  pid: number;
  /** What it said so far. */
  said: () => string;
  /** At once, as a power cut would. */
  kill: () => Promise<void>;
  /** In order. */
  stop: () => Promise<void>;
}

export async function startServer(
  env: Record<string, string | undefined>,
  folder?: string,
): Promise<ServerProcess> {
  const child = startNode('server/main.ts', [], { env: { PORT: '0', ...env }, ...(folder && { folder }) });
  const closed = once(child, 'close');
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => said.push(text));
  const listening = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => {
      const url = /"url":"([^"]+)"[^\n]*"msg":"listening"/.exec(said.join(''))?.[1];
      if (url !== undefined) resolve(url);
    });
    child.on('close', () => {
      reject(new Error(`The server ended:\n${said.join('')}`));
    });
  });
  const url = await listening;
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await closed;
  };
  return {
    url,
    pid: child.pid ?? 0,
    said: () => said.join(''),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
}
