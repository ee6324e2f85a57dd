// Where a message or a help text finds a guide, so that its path can be opened as it is printed.
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** `guides/keys.md` is `docs/guides/keys.md` in the project, and a whole path in an installation, where commands are called anywhere. */
export function guide(name: string, root = dirname(import.meta.dirname)): string {
  const path = join('docs', name);
  const installed = join(dirname(root), path);
  return basename(root) === 'dist' && existsSync(installed) ? installed : path;
}
