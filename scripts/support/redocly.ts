// Runs the Redocly CLI without telemetry, update notice and progress, without its advice to ignore problems, and without its
// warning about Node 20, which we support.
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { root } from './root.ts';

const cli = join(
  dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')),
  'bin',
  'cli.js',
);

export interface Run {
  status: number;
  stdout: string;
  stderr: string;
}

const environment = (colour = false) => ({
  ...process.env,
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  ...(colour ? { FORCE_COLOR: '1' } : { NO_COLOR: '1', FORCE_COLOR: '0' }),
});

interface Kept {
  child: ChildProcess;
  /** The run before, because the process runs one command at a time. */
  last: Promise<unknown>;
}

let kept: Kept | undefined;

/** From now on, commands in the project run in one process, which is faster. Returns what ends it. */
export function keepRedocly(): () => void {
  const child = fork(join(root, 'scripts', 'redocly', 'kept.js'), [], {
    cwd: root,
    env: environment(),
    execArgv: [],
    stdio: 'ignore',
  });
  kept = { child, last: Promise.resolve() };
  const forget = () => {
    if (kept?.child === child) kept = undefined;
  };
  child.once('exit', forget);
  return () => {
    forget();
    child.kill();
  };
}

function runKept(own: Kept, args: string[]): Promise<Run> {
  const run = own.last.then(
    () =>
      new Promise<Run>((resolve, reject) => {
        const fail = () => {
          reject(new Error('The process that runs Redocly ended. Start npm run dev again.'));
        };
        own.child.once('exit', fail);
        own.child.once('message', (result) => {
          own.child.off('exit', fail);
          const { status, stdout, stderr } = result as Run;
          resolve({ status, stdout, stderr: withoutNoise(stderr) });
        });
        own.child.send(args);
      }),
  );
  own.last = run.catch(() => undefined);
  return run;
}

export function redocly(args: string[], options: { cwd?: string; colour?: boolean } = {}): Promise<Run> {
  if (kept && (options.cwd ?? root) === root) return runKept(kept, args);
  return new Promise((resolve, reject) => {
    // Redocly ends before V8's optimizing compiler pays off; without that, it takes a third less CPU time.
    const child = spawn(process.execPath, ['--no-opt', cli, ...args], {
      cwd: options.cwd ?? root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environment(options.colour),
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.on('error', reject);
    child.on('close', (status) => {
      resolve({ status: status ?? 1, stdout: text(out), stderr: withoutNoise(text(err)) });
    });
  });
}

const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString('utf8');

const withoutNoise = (output: string) =>
  output
    .replace(/\s*╔[^╝]*Node\.js 20[^╝]*╝\n*/u, '')
    // Anywhere in the line, because these may begin with the codes of a colour.
    .replaceAll(/^.*(validating |: validated in |redocly lint --generate-ignore-file).*\n?/gmu, '');
