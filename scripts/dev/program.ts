// A program that `npm run dev` bundles, runs and restarts. Its banner is not shown, because the screen says what is served
// where.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createBundler } from '../support/bundle.ts';
import { root } from '../support/root.ts';

export type Started = { url: string } | { fault: string };

export type Program = Awaited<ReturnType<typeof createProgram>>;

interface Options {
  /** Such as `server/main.ts`. */
  entry: string;
  args?: string[];
  /** The line that says where it listens, with the URL as its group. */
  listening: RegExp;
  /** Called with each line of its output after that. */
  onLine: (line: string) => void;
  /** If it ends by itself. */
  onEnd: (why: string) => void;
}

export async function createProgram(folder: string, options: Options) {
  const { entry, args = [], listening, onLine, onEnd } = options;
  const file = join(folder, entry.replace(/\.ts$/, '.js'));
  const bundler = await createBundler(entry, folder);
  let inputs = new Set<string>();
  let isStale = true;
  let isStopped = false;
  let built = '';
  let running: { child: ChildProcess; code: string; started: Started } | undefined;

  const start = (code: string) =>
    new Promise<Started>((resolve) => {
      const child = spawn(process.execPath, ['--enable-source-maps', file, ...args], {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      running = { child, code, started: { fault: 'starting' } };
      const own = running;
      const settle = (started: Started) => {
        own.started = started;
        resolve(started);
      };
      // The service logs why it does not start, as JSON, because this is no terminal; the mock prints it.
      const errors: string[] = [];
      const isListening = () => 'url' in own.started;
      createInterface(child.stdout).on('line', (line) => {
        const [, url] = listening.exec(line) ?? [];
        if (url !== undefined) settle({ url });
        else if (isListening()) onLine(line);
        else if (line.includes('"reason":')) errors.push((JSON.parse(line) as { reason: string }).reason);
      });
      createInterface(child.stderr).on('line', (line) => {
        if (isListening()) onLine(line);
        else errors.push(line);
      });
      child.once('close', (status) => {
        const fault = errors.join('\n') || `It ended with code ${status}.`;
        const wasListening = isListening();
        settle({ fault });
        if (running !== own) return;
        running = undefined;
        if (wasListening) onEnd(fault);
      });
    });

  const stopChild = async () => {
    const child = running?.child;
    running = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'close');
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
        inputs = new Set(await bundler.bundle());
      } catch (error) {
        isStale = true;
        throw error;
      }
      // Names of other files in it have digests of their content, so it differs whenever any of them does.
      built = await readFile(file, 'utf8');
    },
    /** (Re)starts it if it does not run what was built last. Resolves to its URL, or says why it does not start. */
    async run(): Promise<Started> {
      if (running && isCurrent()) return running.started;
      await stopChild();
      return isStopped ? { fault: 'stopped' } : start(built);
    },
    isCurrent,
    async stop() {
      isStopped = true;
      await Promise.all([stopChild(), bundler.dispose()]);
    },
  };
}
