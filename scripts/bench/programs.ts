// The programs to be measured, bundled as `npm run build` does it, and how they are started and stopped.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bundle } from '../support/bundle.ts';
import { root } from '../support/root.ts';
import { environment } from './environment.ts';

const cache = join(root, '.cache', 'bench');
const dayMilliseconds = 86_400_000;

export const contractFile = join(root, 'generated', 'openapi.json');
export const prismProgram = join(
  dirname(createRequire(import.meta.url).resolve('@stoplight/prism-cli/package.json')),
  'dist',
  'index.js',
);

const peers = ['bare', 'fastify', 'express', 'loader', 'sender'] as const;
export type PeerName = (typeof peers)[number];

export interface Programs extends Disposable {
  /** Of this run: removed at its end. */
  folder: string;
  /** Packages that only the bench needs, kept from run to run. */
  packages: string;
  server: string;
  payments: string;
  mock: string;
  peer: (name: PeerName) => string;
}

export async function bundlePrograms(): Promise<Programs> {
  mkdirSync(cache, { recursive: true });
  removeOldRuns();
  const folder = mkdtempSync(join(cache, 'run-'));
  const sources = ['server/main.ts', 'server/cli/main.ts', 'mock/main.ts'];
  await bundle([...sources, ...peers.map((name) => `scripts/bench/peers/${name}.ts`)], folder);
  return {
    folder,
    packages: join(cache, 'packages'),
    server: join(folder, 'server/main.js'),
    payments: join(folder, 'server/cli/main.js'),
    mock: join(folder, 'mock/main.js'),
    peer: (name) => join(folder, `scripts/bench/peers/${name}.js`),
    [Symbol.dispose]() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Those of runs that were killed. */
function removeOldRuns(): void {
  for (const name of readdirSync(cache).filter((one) => one.startsWith('run-'))) {
    const path = join(cache, name);
    if (Date.now() - statSync(path).mtimeMs > dayMilliseconds) rmSync(path, { recursive: true, force: true });
  }
}

export interface Started extends AsyncDisposable {
  pid: number;
  url: string;
  /** From the start of the process to the line with its URL. */
  milliseconds: number;
}

/** Starts a server that prints its URL, and waits for that line. The first group of `pattern` is the URL. */
export async function startServer(
  args: string[],
  pattern: RegExp,
  env: Record<string, string> = {},
): Promise<Started> {
  const start = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    const find = (chunk: string) => {
      output += chunk;
      const found = pattern.exec(output)?.[1];
      if (found === undefined) return;
      child.stdout.off('data', find);
      resolve(found);
    };
    child.stdout.setEncoding('utf8').on('data', find);
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    child.once('exit', () => {
      reject(new Error(`${args.join(' ')} did not start:\n${output}`));
    });
  });
  const milliseconds = performance.now() - start;
  // A program blocks when nobody reads what it prints.
  child.stdout.resume();
  child.stderr.removeAllListeners('data').resume();
  return { pid: child.pid ?? 0, url, milliseconds, [Symbol.asyncDispose]: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

export interface Peer<Config, Answer> extends AsyncDisposable {
  pid: number;
  ask: (config: Config) => Promise<Answer>;
}

/** Starts one of scripts/bench/peers/. */
export function startPeer<Config extends object, Answer>(file: string): Peer<Config, Answer> {
  const child = spawn(process.execPath, [file], {
    cwd: root,
    env: environment(),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return {
    pid: child.pid ?? 0,
    ask: (config) =>
      new Promise((resolve, reject) => {
        const onExit = () => {
          reject(new Error(`${file} ended.`));
        };
        child.once('exit', onExit);
        child.once('message', (message) => {
          child.off('exit', onExit);
          const { result, fault } = message as { result: Answer; fault?: string };
          if (fault === undefined) resolve(result);
          else reject(new Error(fault));
        });
        child.send(config);
      }),
    [Symbol.asyncDispose]: () => stop(child),
  };
}
