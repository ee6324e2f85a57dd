// Runs a task now and after every change, one run at a time. `redocly preview` would do it, but not without a network.
import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Editors write a file in several steps, and a branch switch changes many files: wait until it is quiet. */
const quietMilliseconds = 200;

export async function onChange(roots: string[], task: () => Promise<unknown>): Promise<never> {
  let changes = 0;
  let wake = () => {};
  const watched = new Set<string>();
  // Folder by folder: Node's own recursive watch loses a file on Linux once an editor has replaced it.
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
    await quiet(() => changes);
  }
}

function withSubfolders(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return [
    folder,
    ...entries.filter((entry) => entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name)),
  ];
}

async function quiet(count: () => number): Promise<void> {
  for (let before = -1; before !== count();) {
    before = count();
    await sleep(quietMilliseconds);
  }
}
