// Says whether the docs are out of date: the digest of everything that they are made of.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/root.ts';

export function docsDigest(contract: string): string {
  const hash = createHash('sha256').update(contract);
  for (const file of [
    'CHANGELOG.md',
    'package.json',
    'scripts/client.ts',
    'scripts/docs.ts',
    ...filesOf('client'),
    ...filesOf('docs'),
    ...filesOf('scripts/docs'),
  ])
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

const filesOf = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
    .sort();
