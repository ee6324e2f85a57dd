/** Creates DATA_DIRs, and finds the processes that run in them. */
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runningUrl, startEmbedded } from '../../server/kit/database/embedded/index.ts';

/** Polls, where there is no event to wait for. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  what: string | (() => string),
  seconds = 60,
): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await condition())) {
    if (Date.now() > deadline) {
      throw new Error(`Not within ${seconds} seconds: ${typeof what === 'string' ? what : what()}`);
    }
    await sleep(20);
  }
}

/** All processes with this folder in their arguments, such as PostgreSQL. */
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

/** Resolves when nothing runs there. */
export const nothingRunsOn = (folder: string): Promise<void> =>
  eventually(async () => (await processesOn(folder)).length === 0, `nothing runs in ${folder}`);

export interface DataDir extends AsyncDisposable {
  path: string;
}

/** The last user stops it, so this becomes one for a moment. */
async function stopUnused(dataDir: string): Promise<boolean> {
  if ((await runningUrl(dataDir)) === undefined) return true;
  await (await startEmbedded({ dataDir })).release();
  return (await runningUrl(dataDir)) === undefined;
}

/** A DATA_DIR that does not exist yet, in a folder that PostgreSQL's user can enter. */
export async function newDataDir(): Promise<DataDir> {
  const parent = await mkdtemp(join(tmpdir(), 'payments-process-'));
  await chmod(parent, 0o755);
  const path = join(parent, 'data');
  return {
    path,
    async [Symbol.asyncDispose]() {
      // PostgreSQL outlives a server that was killed, and notices in a moment that it is gone.
      await eventually(() => stopUnused(path), 'nothing uses the database');
      await nothingRunsOn(path);
      await rm(parent, { recursive: true, force: true });
    },
  };
}
