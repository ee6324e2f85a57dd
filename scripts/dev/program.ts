// A program that `npm run dev` bundles, runs and restarts. Its banner is not shown, because the screen says what is served
// where.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createBundler } from '../support/bundle.ts';
import { root } from '../support/root.ts';
import { closedPort, waitsForPort } from './port.ts';

export type Started = { url: string } | { fault: string };

export type Program = Awaited<ReturnType<typeof createProgram>>;

interface Options {
  /** Such as `server/main.ts`. */
  entry: string;
  /** Of `npm run dev` itself, if it is not given. */
  env?: NodeJS.ProcessEnv;
  /** Whether it starts while the one before it still runs, and then waits for the port. Its packages are loaded in advance. */
  waits?: boolean;
  /** The line that says where it listens, with the URL as its group. */
  listening: RegExp;
  /** Called with each line of its output after that. */
  onLine: (line: string) => void;
  /** If it ends by itself. */
  onEnd: (why: string) => void;
}

interface Running {
  child: ChildProcess;
  code: string;
  started: Started;
  portClosed: Promise<void>;
}

export async function createProgram(folder: string, options: Options) {
  const { entry, env, waits = false, listening, onLine, onEnd } = options;
  const file = join(folder, entry.replace(/\.ts$/, '.js'));
  const bundler = await createBundler(entry, folder);
  let inputs = new Set<string>();
  let isStale = true;
  let isStopped = false;
  let built = '';
  let running: Running | undefined;
  let packages: string[] = [];
  let standby: ReturnType<typeof startStandby> | undefined;
  /** Also those that start, and those that finish their last requests. */
  const children = new Set<ChildProcess>();

  const startStandby = () => {
    const script = join(root, 'scripts/dev/standby.js');
    const child = spawn(process.execPath, ['--enable-source-maps', script, ...packages], { cwd: root, env });
    children.add(child);
    child.once('close', () => children.delete(child));
    // It may have ended.
    child.stdin.on('error', () => undefined);
    return child;
  };

  const start = (code: string) =>
    new Promise<Started>((resolve) => {
      const child = standby && children.has(standby) ? standby : startStandby();
      standby = undefined;
      child.stdin.write(file);
      if (!waits) child.stdin.end();
      let notePortClosed: () => void = () => undefined;
      const portClosed = new Promise<void>((done) => (notePortClosed = done));
      const own: Running = { child, code, started: { fault: 'starting' }, portClosed };
      running ??= own;
      const settle = (started: Started) => {
        own.started = started;
        if (waits && !isStopped) standby ??= startStandby();
        resolve(started);
      };
      const takePort = async () => {
        const before = running;
        running = own;
        if (before && before !== own) {
          before.child.kill('SIGTERM');
          await before.portClosed;
        }
        child.stdin.end();
      };
      // The service logs why it does not start, as JSON, because this is no terminal; the mock prints it.
      const errors: string[] = [];
      const isListening = () => 'url' in own.started;
      createInterface(child.stdout).on('line', (line) => {
        const [, url] = listening.exec(line) ?? [];
        if (url !== undefined) settle({ url });
        else if (line === waitsForPort) void takePort();
        else if (line === closedPort) notePortClosed();
        else if (isListening()) onLine(line);
        else if (line.includes('"reason":')) errors.push((JSON.parse(line) as { reason: string }).reason);
      });
      createInterface(child.stderr).on('line', (line) => {
        if (isListening()) onLine(line);
        else errors.push(line);
      });
      child.once('close', (status) => {
        notePortClosed();
        const fault = errors.join('\n') || `It ended with code ${status}.`;
        const wasListening = isListening();
        settle({ fault });
        if (running !== own) return;
        running = undefined;
        if (wasListening) onEnd(fault);
      });
    });

  const stopAll = async () => {
    running = undefined;
    const ends = [...children].map((child) => {
      child.stdin?.end();
      child.kill('SIGTERM');
      return once(child, 'close');
    });
    await Promise.all(ends);
  };

  const isCurrent = () => !isStale && running?.code === built;
  return {
    /** Takes note of files that have changed. */
    touch(files: string[]) {
      if (files.some((name) => inputs.has(name))) isStale = true;
    },
    /** Bundles it if a file of it has changed. Throws if it does not compile; what runs goes on running then. */
    async build() {
      if (!isStale) return;
      // Now, because a save that comes meanwhile makes it stale again.
      isStale = false;
      try {
        const bundled = await bundler.bundle();
        inputs = new Set(bundled.inputs);
        packages = bundled.packages;
      } catch (error) {
        isStale = true;
        throw error;
      }
      // Names of other files in it have digests of their content, so it differs whenever any of them does.
      built = await readFile(file, 'utf8');
    },
    /**
     * (Re)starts it if it does not run what was built last. Resolves to its URL, or says why it does not start. Throws if the one before
     * runs on because of that.
     */
    async run(): Promise<Started> {
      if (running && isCurrent()) return running.started;
      if (!waits) await stopAll();
      if (isStopped) return { fault: 'stopped' };
      const started = await start(built);
      if ('fault' in started && running) throw new Error(started.fault);
      return started;
    },
    isCurrent,
    async stop() {
      isStopped = true;
      await Promise.all([stopAll(), bundler.dispose()]);
    },
  };
}
