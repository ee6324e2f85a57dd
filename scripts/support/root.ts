import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The project. A bundle moves this file to another depth, so it is searched for. */
export const root = nearestProject(import.meta.dirname);

function nearestProject(folder: string): string {
  const parent = dirname(folder);
  return existsSync(join(folder, 'redocly.yaml')) || parent === folder ? folder : nearestProject(parent);
}
