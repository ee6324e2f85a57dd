// Runs a task now and after every change, one run at a time. `redocly preview` does this too, but needs a network.
import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Debounce: editors write a file in several steps, and a branch switch changes many files. */
const debounceMilliseconds = 200;

export async function onChange(roots: string[], task: () => Promise<unknown>): Promise<never> {
  let changes = 0;
  let wake = () => {};
  const watched = new Set<string>();
  // One watcher per folder: on Linux, Node's recursive watch loses a file when an editor replaces it.
  const watchNewFolders = () => {
    for (const folder of roots.flatMap(withSubfolders).filter((found) => !watched.has(found))) {
      watched.add(folder);
      const watcher = watch(folder, () => {
        changes += 1;
        wake();
      });
      watcher.on('error', () => watched.delete(folder));
    }
  };
  for (;;) {
    watchNewFolders();
    const seen = changes;
    await task();
    if (changes === seen)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    await untilStable(() => changes);
  }
}

function withSubfolders(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return [
    folder,
    ...entries.filter((entry) => entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name)),
  ];
}

async function untilStable(count: () => number): Promise<void> {
  for (let before = -1; before !== count();) {
    before = count();
    await sleep(debounceMilliseconds);
  }
}
