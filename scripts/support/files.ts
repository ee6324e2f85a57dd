import { randomUUID } from 'node:crypto';
import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** The name of a file within the project, with slashes. */
export const nameIn = (project: string, file: string) => relative(project, file).split(sep).join('/');

/** The names of all files in a folder of the project. */
export const filesIn = (project: string, folder: string): string[] =>
  readdirSync(join(project, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => nameIn(project, join(entry.parentPath, entry.name)))
    .sort();

/** At once: another command that reads the file at this moment gets all of the old or all of the new text. */
export function replaceFile(path: string, text: string): void {
  const written = `${path}.${randomUUID()}`;
  writeFileSync(written, text);
  renameSync(written, path);
}
