// Calls back after changes of files in folders: once for all that are saved together.
import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { nameIn } from './files.ts';
import { root } from './root.ts';

/** Editors write a file in several steps, and a branch switch changes many files. */
const debounceMilliseconds = 100;

/** `onChange` gets the names within the project, with slashes, and the time of the first change. */
export function watchFolders(folders: string[], onChange: (files: string[], since: number) => void): void {
  let changed = new Set<string>();
  let since: number | undefined;
  let pending: NodeJS.Timeout | undefined;
  const watched = new Set<string>();
  // One watcher per folder: on Linux, Node's recursive watch loses a file when an editor replaces it.
  const watchNew = () => {
    for (const folder of folders.flatMap(withSubfolders).filter((found) => !watched.has(found))) {
      watched.add(folder);
      const watcher = watch(folder, (_event, name) => {
        since ??= performance.now();
        changed.add(nameIn(root, join(folder, name ?? '')));
        clearTimeout(pending);
        pending = setTimeout(report, debounceMilliseconds);
      });
      watcher.on('error', () => watched.delete(folder));
    }
  };
  const report = () => {
    const [files, begun] = [[...changed], since ?? performance.now()];
    changed = new Set();
    since = undefined;
    watchNew();
    onChange(files, begun);
  };
  watchNew();
}

function withSubfolders(name: string): string[] {
  const folder = join(root, name);
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return [
    folder,
    ...entries
      .filter((entry) => entry.isDirectory())
      .map(({ parentPath, name: own }) => join(parentPath, own)),
  ];
}
