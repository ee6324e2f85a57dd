/** The service and its command line as people run them: processes of their own, on a folder of their own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { vi } from 'vitest';
import { keys, secretNames } from '../../server/config.ts';

export const root = join(import.meta.dirname, '..', '..');

export type Env = Record<string, string | undefined>;

/** Nothing of what configures the service comes from whoever runs the tests. */
const ours = new Set<string>([...keys.map(({ name }) => name), ...secretNames]);

const environment = (env: Env): NodeJS.ProcessEnv => {
  const inherited = Object.entries(process.env).filter(([name]) => !ours.has(name));
  return {
    ...Object.fromEntries(inherited),
    NO_COLOR: '1',
    npm_config_loglevel: 'error',
    npm_config_update_notifier: 'false',
    ...env,
  };
};

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface Child {
  process: ChildProcess;
  stdout: () => string;
  stderr: () => string;
  ended: Promise<Ended>;
}

/** Resolves streams only when they are closed, so nothing of what was said is missing. */
export function startCommand(command: string, args: string[], env: Env = {}): Child {
  const child = spawn(command, args, {
    cwd: root,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (said[name] += text));
  const ended = once(child, 'close').then(([status]) => ({ status: status as number | null, ...said }));
  ended.catch(() => undefined);
  return { process: child, stdout: () => said.stdout, stderr: () => said.stderr, ended };
}

const node = (file: string, args: string[], env: Env) =>
  startCommand(process.execPath, ['--import', 'tsx', join(root, file), ...args], env);

export const startPayments = (args: string[], env: Env): Child => node('server/cli/main.ts', args, env);

/** Runs `payments` to its end. */
export const payments = (args: string[], env: Env): Promise<Ended> => startPayments(args, env).ended;

/** The same program inside this process: without the second that a process takes to begin. One at a time. */
export const paymentsHere = (args: string[], env: Env): Promise<Ended> =>
  here(() => import('../../server/cli/main.ts'), args, env);

/** Runs the service, inside this process, when it is expected not to start. */
export const startInVainHere = (env: Env): Promise<Ended> =>
  here(() => import('../../server/main.ts'), [], { PORT: '0', LOG_LEVEL: 'silent', ...env });

async function here(load: () => Promise<unknown>, args: string[], env: Env): Promise<Ended> {
  const said = { stdout: '', stderr: '' };
  const write = (name: 'stdout' | 'stderr', end: string) => (text: unknown) => {
    said[name] += String(text) + end;
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(write('stdout', '')),
    vi.spyOn(process.stderr, 'write').mockImplementation(write('stderr', '')),
    vi.spyOn(console, 'log').mockImplementation(write('stdout', '\n')),
    vi.spyOn(console, 'error').mockImplementation(write('stderr', '\n')),
  ];
  const { argv } = process;
  process.argv = [process.execPath, 'payments', ...args];
  for (const name of ours) vi.stubEnv(name, env[name]);
  try {
    vi.resetModules();
    await load();
    return { status: Number(process.exitCode ?? 0), ...said };
  } finally {
    process.argv = argv;
    process.exitCode = undefined;
    vi.unstubAllEnvs();
    for (const spy of spies) spy.mockRestore();
  }
}

/** Runs the service when it is expected not to start. */
export const startInVain = (env: Env): Promise<Ended> =>
  node('server/main.ts', [], { PORT: '0', ...env }).ended;

export interface Server extends AsyncDisposable {
  url: string;
  pid: number;
  /** Everything it wrote to its standard output: what it prints for people, and the log. */
  output: () => string;
  child: Child;
  signal: (signal?: NodeJS.Signals) => void;
  /** Asks it to end and waits until it has. */
  stop: (signal?: NodeJS.Signals) => Promise<Ended>;
}

/** Runs the service on a free port; ready when it says that it listens. */
export async function startServer(env: Env): Promise<Server> {
  const child = node('server/main.ts', [], { PORT: '0', ...env });
  const url = await new Promise<string>((resolve, reject) => {
    child.process.stdout?.on('data', () => {
      const line = /^\{.*"url":"([^"]+)","msg":"listening"\}$/m.exec(child.stdout());
      if (line?.[1] !== undefined) resolve(line[1]);
    });
    void child.ended.then(({ status, stdout, stderr }) => {
      reject(new Error(`The service ended with ${status}:\n${stdout}${stderr}`));
    });
  });
  const signal = (name: NodeJS.Signals = 'SIGTERM') => void child.process.kill(name);
  return {
    url,
    pid: child.process.pid ?? 0,
    output: child.stdout,
    child,
    signal,
    stop: (name) => {
      signal(name);
      return child.ended;
    },
    async [Symbol.asyncDispose]() {
      child.process.kill('SIGKILL');
      await child.ended;
    },
  };
}

/** For what announces itself by no event. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  what: string,
  seconds = 30,
): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Not within ${seconds} seconds: ${what}`);
    await sleep(20);
  }
}

/** Every process that names this folder among its arguments: PostgreSQL, its watchdog, an initdb. */
export async function processesOn(folder: string): Promise<string[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return commands
    .filter((command) => command.includes(`${folder}/`))
    .map((text) => text.replaceAll('\0', ' '));
}

export interface DataDir extends AsyncDisposable {
  path: string;
}

/** A DATA_DIR that does not exist yet, in a folder that whom PostgreSQL runs as can enter. */
export async function newDataDir(): Promise<DataDir> {
  const parent = await mkdtemp(join(tmpdir(), 'payments-process-'));
  await chmod(parent, 0o755);
  const path = join(parent, 'data');
  return {
    path,
    async [Symbol.asyncDispose]() {
      // After a kill the watchdog stops PostgreSQL, which must not find its folder gone.
      await eventually(async () => (await processesOn(path)).length === 0, `nothing runs in ${path}`);
      await rm(parent, { recursive: true, force: true });
    },
  };
}
