/** Starts processes for tests: any command, a script of the project, the server, or the command line. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { inject } from 'vitest';
import { fileNameOf, namesWithFiles, rows } from '../../server/settings.ts';

export const root = join(import.meta.dirname, '..', '..');

export type Env = Record<string, string | undefined>;

/** The settings of the service, which must not come from the environment of the tests. */
export const settingNames: readonly string[] = [
  ...rows.map(([name]) => name),
  ...namesWithFiles.map((name) => fileNameOf(name)),
];

const environment = (env: Env): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !settingNames.includes(name))),
  NO_COLOR: '1',
  TZ: 'UTC',
  npm_config_loglevel: 'error',
  npm_config_update_notifier: 'false',
  ...env,
});

export interface Ended {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** Standard output and error, in order. */
  output: string;
}

export interface Child {
  process: ChildProcessByStdio<Writable, Readable, Readable>;
  stdout: () => string;
  stderr: () => string;
  output: () => string;
  /** Resolves after the streams are closed too, so that the output is complete. */
  ended: Promise<Ended>;
}

export interface CommandOptions {
  env?: Env;
  /** Working directory; the project by default. */
  cwd?: string;
  /** In a process group of its own, as a shell starts it. */
  detached?: boolean;
}

/** Its standard input stays open until the test ends it. */
export function startCommand(
  command: string,
  args: string[],
  { env = {}, cwd = root, detached = false }: CommandOptions = {},
): Child {
  const stdio: ['pipe', 'pipe', 'pipe'] = ['pipe', 'pipe', 'pipe'];
  const child = spawn(command, args, { cwd, env: environment(env), stdio, detached });
  // The process may exit before it has read all input.
  child.stdin.on('error', () => undefined);
  const said = { stdout: '', stderr: '', output: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
      said.output += text;
    });
  const ended = once(child, 'close').then(([status, signal]) => ({
    status: status as number | null,
    signal: signal as NodeJS.Signals | null,
    ...said,
  }));
  ended.catch(() => undefined);
  return {
    process: child,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    output: () => said.output,
    ended,
  };
}

/** Runs a command to its end. */
export function run(command: string, args: string[], options: CommandOptions = {}): Promise<Ended> {
  const child = startCommand(command, args, options);
  child.process.stdin.end();
  return child.ended;
}

export interface NodeOptions extends CommandOptions {
  /** For Node itself. */
  nodeOptions?: string[];
}

/**
 * Runs a script such as `server/main.ts` in one process, so that a signal meets the program itself. It runs as the JavaScript
 * that globalSetup compiled, because `tsx` takes a second to begin; in a copy of the project only if the copy has that.
 */
export function startNode(
  script: string,
  args: string[],
  { nodeOptions = [], ...options }: NodeOptions = {},
): Child {
  const { cwd = root } = options;
  const compiled = join(cwd === root ? inject('compiled') : cwd, script.replace(/\.ts$/, '.js'));
  const program = existsSync(compiled) ? [compiled] : ['--import', 'tsx', join(cwd, script)];
  return startCommand(process.execPath, [...nodeOptions, ...program, ...args], options);
}

/** Runs a script to its end. */
export function runNode(script: string, args: string[], options: NodeOptions = {}): Promise<Ended> {
  const child = startNode(script, args, options);
  child.process.stdin.end();
  return child.ended;
}

export const startPayments = (args: string[], env: Env): Child =>
  startNode('server/cli/main.ts', args, { env });

export type Payments = (args: string[], input?: string | Readable, nodeOptions?: string[]) => Promise<Ended>;

/** `payments …` with this configuration, as a process. */
export const createPayments =
  (env: Env = {}): Payments =>
  (args, input = '', nodeOptions = []) => {
    const child = startNode('server/cli/main.ts', args, { env, nodeOptions });
    if (typeof input === 'string') child.process.stdin.end(input);
    else input.pipe(child.process.stdin);
    return child.ended;
  };

/** The same where every write to a file fails, as on a full disk. Node ignores the signal of that limit. */
export function paymentsWithoutSpace(args: string[], env: Env, input = ''): Promise<Ended> {
  const program = [process.execPath, join(inject('compiled'), 'server/cli/main.js')];
  const child = startCommand('sh', ['-c', 'ulimit -f 0 && exec "$@"', 'sh', ...program, ...args], { env });
  child.process.stdin.end(input);
  return child.ended;
}

export interface Server extends AsyncDisposable {
  url: string;
  pid: number;
  child: Child;
  /** Everything on its standard output: messages and log lines. */
  output: () => string;
  signal: (signal?: NodeJS.Signals) => void;
  /** Kills it with SIGKILL. */
  kill: () => Promise<Ended>;
  /** Stops it and waits for its end. */
  stop: (signal?: NodeJS.Signals) => Promise<Ended>;
}

/** Resolves with the URL of a service when it listens. */
export const listening = (child: Child): Promise<string> =>
  new Promise<string>((resolve, reject) => {
    child.process.stdout.on('data', () => {
      const line = /^\{.*?"port":(\d+),"url":"([^"]+)","msg":"listening"\}$/m.exec(child.stdout());
      const [, port = '', publicUrl] = line ?? [];
      // In production the public address is that of a proxy, which tests have not.
      if (publicUrl !== undefined)
        resolve(publicUrl.startsWith('https:') ? `http://127.0.0.1:${port}` : publicUrl);
    });
    void child.ended.then(({ status, output }) => {
      reject(new Error(`The service ended with ${status}:\n${output}`));
    });
  });

/** Starts the service on a free port and waits until it listens. */
export async function startServer(env: Env, cwd: string = root): Promise<Server> {
  const child = startNode('server/main.ts', [], { env: { PORT: '0', ...env }, cwd });
  const url = await listening(child);
  const end = (name: NodeJS.Signals) => {
    child.process.kill(name);
    return child.ended;
  };
  return {
    url,
    pid: child.process.pid ?? 0,
    child,
    output: child.stdout,
    signal: (name = 'SIGTERM') => void child.process.kill(name),
    kill: () => end('SIGKILL'),
    stop: (name = 'SIGTERM') => end(name),
    async [Symbol.asyncDispose]() {
      await end('SIGKILL');
    },
  };
}
