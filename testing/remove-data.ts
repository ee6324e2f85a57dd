import { realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Removes the folder of a temporary sandbox, in which nothing runs any more. */
export function removeData(dataDir: string): void {
  // As root it may be a link to a folder elsewhere.
  const database = findDatabase(dataDir);
  if (database !== undefined) rmSync(database, { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}

function findDatabase(dataDir: string): string | undefined {
  try {
    return realpathSync(join(dataDir, 'postgres'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
