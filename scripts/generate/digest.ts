// A digest of openapi/. Comparing it shows in milliseconds whether generated/ is up to date, so `npm start` rarely generates.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

export const digestFile = 'generated/openapi.sha256';

export async function contractDigest(project: string): Promise<string> {
  const base = join(project, 'openapi');
  const entries = await readdir(base, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && /\.(yaml|md)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const hash = createHash('sha256');
  const contents = await Promise.all(files.map((file) => readFile(file)));
  for (const [index, file] of files.entries()) {
    hash.update(relative(base, file).split(sep).join('/')).update('\0');
    hash.update(contents[index] ?? '').update('\0');
  }
  return hash.digest('hex');
}

/** Whether openapi/ has changed since the last `npm run generate`. */
export async function isStale(project: string): Promise<boolean> {
  const generated = await readFile(join(project, digestFile), 'utf8').catch(() => '');
  return generated.trim() !== (await contractDigest(project));
}
