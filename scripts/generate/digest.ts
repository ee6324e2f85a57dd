// A digest of openapi/. Comparing it shows in milliseconds whether generated/ is up to date, so `npm start` rarely generates.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { filesIn } from '../support/files.ts';

export const digestFile = 'generated/openapi.sha256';

export function contractDigest(project: string): string {
  const hash = createHash('sha256');
  for (const file of filesIn(project, 'openapi').filter((name) => /\.(yaml|md)$/.test(name)))
    hash
      .update(`${file.slice('openapi/'.length)}\0`)
      .update(readFileSync(join(project, file)))
      .update('\0');
  return hash.digest('hex');
}

/** Whether openapi/ has changed since the last `npm run generate`. */
export async function isStale(project: string): Promise<boolean> {
  const generated = await readFile(join(project, digestFile), 'utf8').catch(() => '');
  return generated.trim() !== contractDigest(project);
}
