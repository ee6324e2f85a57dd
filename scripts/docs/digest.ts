// Says whether the docs are out of date: the digest of everything that they are made of.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/root.ts';

export function docsDigest(contract: string): string {
  const hash = createHash('sha256').update(contract);
  for (const file of [
    'CHANGELOG.md',
    'package.json',
    'scripts/docs.ts',
    'scripts/packages.ts',
    'server/contract/load.ts',
    ...filesOf('client'),
    ...filesOf('docs'),
    // Not the rest of server/, of which the mock uses parts: an edit there would make every start as slow as the first.
    ...filesOf('mock'),
    ...filesOf('scripts/docs'),
    ...filesOf('scripts/support'),
  ])
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

/** Whether site/ and pages/ are there, made of the files above. */
export function areDocsBuilt(): boolean {
  const read = (file: string) => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '');
  const isFresh = read('site/digest.txt') === `${docsDigest(read('generated/openapi.json'))}\n`;
  return isFresh && existsSync(join(root, 'pages/index.html'));
}

const filesOf = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
    .sort();
