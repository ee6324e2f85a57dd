// Says whether the docs are out of date: the digest of everything that they are made of.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesIn } from '../support/files.ts';
import { root } from '../support/root.ts';

export function docsDigest(contract: string): string {
  const hash = createHash('sha256').update(contract);
  for (const file of [
    'CHANGELOG.md',
    'package.json',
    'scripts/docs.ts',
    'scripts/generate/handlers.ts',
    'scripts/generate/introduction.ts',
    'scripts/packages.ts',
    'server/kit/contract/load.ts',
    ...filesIn(root, 'client'),
    ...filesIn(root, 'docs'),
    // Not the rest of server/, of which the mock uses parts: an edit there would make every start as slow as the first.
    ...filesIn(root, 'mock'),
    ...filesIn(root, 'scripts/dashboard'),
    ...filesIn(root, 'scripts/docs'),
    ...filesIn(root, 'scripts/support'),
    ...filesIn(root, 'testing'),
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
