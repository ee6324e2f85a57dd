// A sandbox of its own for a script: one process that can be killed and started again on the same data and port.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './root.ts';

export interface Sandbox extends AsyncDisposable {
  url: string;
  /** Runs `payments` to its end and returns what it printed. */
  payments: (...args: string[]) => { status: number | null; stdout: string };
  killServer: () => Promise<void>;
  /** Kills the postmaster; the service starts PostgreSQL again by itself. */
  killDatabase: () => void;
  start: () => Promise<void>;
  /** Megabytes on the heap after a collection. */
  heap: () => Promise<number>;
}

// The service itself has no such signal: it is added from outside, with Node's own flags.
const reportHeap = `data:text/javascript,process.on('SIGUSR2', () => { gc(); console.error('heap ' + process.memoryUsage().heapUsed); })`;

export async function createSandbox(): Promise<Sandbox> {
  const parent = mkdtempSync(join(tmpdir(), 'payments-sandbox-'));
  // As root PostgreSQL runs as `nobody`, which must be able to enter.
  chmodSync(parent, 0o755);
  const dataDir = join(parent, 'data');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = { ...process.env, DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'warn' };
  let child: ChildProcess | undefined;

  const start = async () => {
    const flags = ['--expose-gc', '--import', 'tsx', '--import', reportHeap, 'server/main.ts'];
    child = spawn(process.execPath, flags, { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] });
    for (let tries = 0; tries < 600; tries += 1) {
      if (
        await fetch(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        )
      )
        return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('The service did not start within a minute.');
  };
  const stop = async (signal: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };

  return {
    url,
    start,
    killServer: () => stop('SIGKILL'),
    killDatabase: () => {
      const pid = postmasterOf(dataDir);
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    },
    payments: (...args) => {
      const script = ['--import', 'tsx', 'server/cli/main.ts', ...args];
      const options = { cwd: root, env, encoding: 'utf8', maxBuffer: 1e9 } as const;
      const { status, stdout } = spawnSync(process.execPath, script, options);
      return { status, stdout };
    },
    async heap() {
      const running = child;
      if (!running?.stderr) throw new Error('The service does not run.');
      running.kill('SIGUSR2');
      for await (const chunk of running.stderr.iterator({ destroyOnReturn: false })) {
        const found = /heap (\d+)/.exec(String(chunk))?.[1];
        if (found !== undefined) return Number(found) / 1e6;
      }
      throw new Error('The service ended.');
    },
    async [Symbol.asyncDispose]() {
      await stop('SIGTERM');
      rmSync(parent, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
}

function postmasterOf(dataDir: string): number | undefined {
  const file = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.endsWith('postmaster.pid'),
  );
  const pid = file && Number(readFileSync(join(dataDir, file), 'utf8').split('\n')[0]);
  return pid && pid > 0 ? pid : undefined;
}
