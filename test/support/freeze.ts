/** A PostgreSQL of a test's own that can be frozen: all of its processes stop, and its sockets stay open. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbedded } from '../../server/kit/database/embedded/index.ts';
import { newDataDir } from './data-dir.ts';

export interface OwnDatabase extends AsyncDisposable {
  url: string;
  freeze: () => void;
  thaw: () => void;
}

export async function startOwnDatabase(): Promise<OwnDatabase> {
  const dataDir = await newDataDir();
  const database = await startEmbedded({ dataDir: dataDir.path });
  const [line = ''] = readFileSync(join(database.directory, 'data', 'postmaster.pid'), 'utf8').split('\n');
  const postmaster = Number(line);
  let frozen: number[] = [];
  const thaw = () => {
    for (const pid of frozen)
      try {
        process.kill(pid, 'SIGCONT');
      } catch {
        // A backend may have ended.
      }
    frozen = [];
  };
  return {
    url: database.url,
    freeze: () => {
      // The postmaster first, so that no backend is added.
      process.kill(postmaster, 'SIGSTOP');
      frozen = [postmaster, ...childrenOf(postmaster)];
      for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    },
    thaw,
    async [Symbol.asyncDispose]() {
      thaw();
      await database.stop();
      await dataDir[Symbol.asyncDispose]();
    },
  };
}

export const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => parentOf(pid) === parent)
    .map(Number);

/** The fourth field; the second is the name in parentheses, which may have spaces. */
function parentOf(pid: string): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ');
    return Number(fields?.[1]);
  } catch {
    // It has ended.
    return undefined;
  }
}
