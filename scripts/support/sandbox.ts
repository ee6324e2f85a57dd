// A sandbox of its own for a script: one process, started as `npm start` does it, which can be killed and started again on the
// same data and port.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { on, once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './root.ts';

// The service itself has no such signal: it is added from outside, with Node's own means.
const onSignal = `import v8 from 'node:v8'; import vm from 'node:vm'; v8.setFlagsFromString('--expose-gc');
process.on('SIGUSR2', () => { vm.runInNewContext('gc')(); console.error('heap ' + process.memoryUsage().heapUsed); })`;
export const reportHeap = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(onSignal)}` };

/** As npm runs `start` and `payments`; npm itself would be one more process. */
const program = (file: string, ...args: string[]) => ['scripts/run.js', file, ...args];

export async function createSandbox(given: Record<string, string> = {}) {
  const parent = mkdtempSync(join(tmpdir(), 'payments-sandbox-'));
  // As root PostgreSQL runs as `nobody`, which must be able to enter.
  chmodSync(parent, 0o755);
  const dataDir = join(parent, 'data');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const own = { DATA_DIR: dataDir, PORT: String(port), DATABASE_URL: '', ENVIRONMENT: 'sandbox' };
  const env = { ...process.env, LOG_LEVEL: 'warn', ...given, ...own };
  let child: ChildProcess | undefined;
  const stop = async (signal: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };

  return {
    url,
    dataDir,
    /** Returns once the service is ready, with its process ID. */
    async start(more: Record<string, string> = {}) {
      child = spawn(process.execPath, program('server/main.ts'), {
        cwd: root,
        env: { ...env, ...more },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      await untilReady(`${url}/readyz`, child);
      return child.pid ?? 0;
    },
    stop: () => stop('SIGTERM'),
    killServer: () => stop('SIGKILL'),
    /** The process ID of PostgreSQL. */
    postmaster: () => postmasterOf(dataDir),
    killDatabase: () => {
      const pid = postmasterOf(dataDir);
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    },
    /** Runs `payments` to its end. */
    payments: (...args: string[]) => {
      const options = { cwd: root, env, encoding: 'utf8', maxBuffer: 1e9 } as const;
      return spawnSync(process.execPath, program('server/cli/main.ts', ...args), options);
    },
    /** Megabytes on the heap after a collection; only with `reportHeap`. */
    async heap() {
      const running = child;
      if (!running?.stderr) throw new Error('The service does not run.');
      running.kill('SIGUSR2');
      const signal = AbortSignal.timeout(30_000);
      for await (const [chunk] of on(running.stderr, 'data', { signal, close: ['end'] })) {
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

/** With a body: POST. */
export async function ask({ url, token }: { url: string; token?: string }, path: string, body?: object) {
  const headers = {
    'Content-Type': 'application/json',
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  };
  const sent = body && { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(url + path, { headers, ...sent });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Resolves when the program answers at the URL, with anything but 503. Fails with what the program and the URL said last. */
export async function untilReady(url: string, child: ChildProcess): Promise<void> {
  let said = '';
  // Reads for as long as the program runs: one whose pipe is full stands still.
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)));
  let answered = 'nothing';
  const failed = (how: string) =>
    new Error(`${child.spawnargs.join(' ')} ${how}. ${url} answered: ${answered}. Its last lines:\n${said}`);
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    if (response && response.status !== 503) return;
    answered = (await response?.text().catch(() => undefined)) ?? answered;
    if (child.exitCode !== null || child.signalCode !== null) {
      // What it said last may not have been read yet.
      await once(child, 'close', { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
      throw failed('ended');
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw failed('was not ready within a minute');
}

export async function freePort(): Promise<number> {
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
