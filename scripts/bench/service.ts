// Starts the service to be measured: its own process and data folder, with its log kept off the terminal.
import { spawn } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../support/root.ts';
import { environment } from './environment.ts';
import { startServer, type Programs, type Started } from './programs.ts';
import { residentBytes } from './usage.ts';

export interface Ran {
  stdout: string;
  milliseconds: number;
  /** The most memory that the process had; only on Linux. */
  mostBytes: number | undefined;
}

export interface BenchedService extends AsyncDisposable {
  url: string;
  token: string;
  pid: number;
  /** How long the start took. */
  milliseconds: number;
  databaseUrl: string;
  /** Verifies the token; PEM. */
  publicKey: string;
  /** Runs the command line to its end. */
  payments: (...args: string[]) => Promise<Ran>;
  /** Stops the service and starts it again on the same data. */
  restart: (env?: Record<string, string>) => Promise<void>;
}

export async function startService(
  programs: Programs,
  settings: Record<string, string> = {},
): Promise<BenchedService> {
  const parent = mkdtempSync(join(tmpdir(), 'bench-'));
  // As root PostgreSQL runs as `nobody`, which must be able to enter.
  chmodSync(parent, 0o755);
  const dataDir = join(parent, 'data');
  const fixed = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'info' };
  const start = (env: Record<string, string>): Promise<Started> =>
    startServer([programs.server], /"url":"([^"]+)","msg":"listening"/, { ...fixed, ...env });
  const payments = (...args: string[]) => run([programs.payments, ...args], fixed);
  let started = await start(settings);
  const service: BenchedService = {
    url: started.url,
    pid: started.pid,
    milliseconds: started.milliseconds,
    token: (await payments('token', '--scopes', '*.read,*.write', '--ttl', '86400')).stdout.trim(),
    databaseUrl: (await payments('database', 'url')).stdout.trim(),
    publicKey: createPublicKey(readFileSync(join(dataDir, 'sandbox-key.pem')))
      .export({ type: 'spki', format: 'pem' })
      .toString(),
    payments,
    async restart(env = settings) {
      await started[Symbol.asyncDispose]();
      started = await start(env);
      const databaseUrl = (await payments('database', 'url')).stdout.trim();
      const { url, pid, milliseconds } = started;
      Object.assign(service, { url, pid, milliseconds, databaseUrl });
    },
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      rmSync(parent, { recursive: true, force: true });
    },
  };
  return service;
}

/** Runs a program to its end; fails if it does. */
export async function run(args: string[], env: Record<string, string> = {}): Promise<Ran> {
  const begun = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  let mostBytes: number | undefined;
  const watch = setInterval(() => {
    mostBytes = residentBytes(child.pid ?? 0)?.most ?? mostBytes;
  }, 50);
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const status = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(watch);
  if (status !== 0) throw new Error(`${args.slice(1).join(' ')} failed:\n${stderr}`);
  return { stdout, milliseconds: performance.now() - begun, mostBytes };
}
