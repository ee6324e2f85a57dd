/** Runs the command line and the service in this process, which is faster than starting a process. */
import type { EventEmitter } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { vi } from 'vitest';
import { settingNames, type Ended, type Env } from './processes.ts';

export type EndedHere = Pick<Ended, 'status' | 'stdout' | 'stderr'>;

/** Runs `payments …`; a second call waits for the first. `input` is its standard input. */
export const paymentsHere = (args: string[], env: Env, input: string | Readable = ''): Promise<EndedHere> =>
  inTurn(() => here('server/cli/main.ts', args, env, input));

/** Calls the service with arguments, which it refuses. */
export const serviceHere = (...args: string[]): Promise<EndedHere> =>
  inTurn(() => here('server/main.ts', args, {}, ''));

/** Runs the service when it is expected not to start. `stderr` is the reason in its log. */
export const startInVainHere = (env: Env): Promise<EndedHere> =>
  inTurn(async () => {
    const said = await here('server/main.ts', [], { PORT: '0', LOG_LEVEL: 'silent', ...env }, '');
    if (process.stdout.isTTY) return said;
    const [, line = '', rest = ''] = /^(\{.*\}\n)(.*)$/s.exec(said.stdout) ?? [];
    const { level, msg, reason } = JSON.parse(line) as Record<string, unknown>;
    if (level !== 60 || msg !== 'the service did not start') throw new Error(`It logged: ${line}`);
    return { ...said, stdout: rest, stderr: `${said.stderr}${String(reason)}\n` };
  });

/** While `work` runs, standard output is a terminal. */
export async function onTerminal<T>(columns: number, work: () => Promise<T>): Promise<T> {
  const own = { isTTY: true, columns };
  const before = Object.entries(Object.getOwnPropertyDescriptors(process.stdout));
  Object.assign(process.stdout, own);
  try {
    return await work();
  } finally {
    for (const name of Object.keys(own)) Reflect.deleteProperty(process.stdout, name);
    for (const [name, was] of before) if (name in own) Object.defineProperty(process.stdout, name, was);
  }
}

let last: Promise<unknown> = Promise.resolve();

// Standard input and output belong to the whole process, so only one program can run at a time.
function inTurn<T>(task: () => Promise<T>): Promise<T> {
  const mine = last.then(task, task);
  last = mine.catch(() => undefined);
  return mine;
}

/** What a person at a terminal types. */
export const typed = (text: string): Readable => Object.assign(Readable.from([text]), { isTTY: true });

/** As much at once as a pipe brings. */
function* pieces(text: string): Generator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

let runs = 0;

async function here(script: string, args: string[], env: Env, input: string | Readable): Promise<EndedHere> {
  const stdin = (typeof input === 'string' ? Readable.from(pieces(input)) : input).pipe(new PassThrough());
  if (typeof input !== 'string' && 'isTTY' in input) Object.assign(stdin, { isTTY: true });
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
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin as never),
  ];
  const own: [EventEmitter, string][] = [
    [process.stdout, 'error'],
    [process, 'uncaughtException'],
    [process, 'unhandledRejection'],
    // A service that does not start leaves these to the end of its process. More than ten are a warning on standard error.
    ...['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal): [EventEmitter, string] => [process, signal]),
  ];
  const listening = own.map(([emitter, name]) => ({ emitter, name, before: emitter.listeners(name) }));
  const { argv } = process;
  process.argv = [process.execPath, 'payments', ...args];
  for (const name of settingNames) vi.stubEnv(name, env[name]);
  runs += 1;
  try {
    // The unique query makes Node run the main module again; the modules that it imports stay cached.
    await import(/* @vite-ignore */ `../../${script}?run=${runs}`);
    return { status: Number(process.exitCode ?? 0), ...said };
  } finally {
    process.argv = argv;
    process.exitCode = undefined;
    vi.unstubAllEnvs();
    for (const spy of spies) spy.mockRestore();
    for (const { emitter, name, before } of listening)
      for (const listener of emitter.listeners(name))
        if (!before.includes(listener)) emitter.off(name, listener as () => void);
  }
}
