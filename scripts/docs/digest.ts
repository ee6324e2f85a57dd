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
    'scripts/docs.ts',
    'scripts/packages.ts',
    ...filesOf('client'),
    ...filesOf('docs'),
    // Not server/, of which the mock uses parts: an edit there would make every start as slow as the first.
    ...filesOf('mock'),
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
