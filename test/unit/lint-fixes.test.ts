// What `npm run lint` advises about the format: the files that Prettier would change.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { prettierFix } from '../../scripts/lint/fixes.ts';
import { root } from '../../scripts/support/root.ts';
import { run } from '../support/processes.ts';

const [clean, ugly, broken] = ['a: 1\n', 'a:    1\n', 'a: [\n'];

it.each([
  ['one', { 'a.yaml': clean, 'b_{id}.yaml': ugly }, "Run: npx prettier --write 'b_{id}.yaml'"],
  ['two', { 'a.yaml': ugly, 'b.yaml': ugly }, 'Run: npx prettier --write a.yaml b.yaml'],
  [
    'one, beside one that is broken',
    { 'a.yaml': ugly, 'b.yaml': broken },
    'Run: npx prettier --write a.yaml, and mend the syntax of the others named above.',
  ],
  ['none but one that is broken', { 'a.yaml': broken }, 'Mend the syntax of the files named above.'],
  [
    'many',
    Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`${index}.yaml`, ugly])),
    'Run: npx prettier --write .',
  ],
])('names the files that are not formatted: %s', async (_count, files, advice) => {
  const folder = await mkdtemp(join(tmpdir(), 'lint-fixes-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const prettier = join(root, 'node_modules/prettier/bin/prettier.cjs');
  const { output } = await run(process.execPath, [prettier, '--check', '--log-level=warn', '.'], {
    cwd: folder,
  });
  expect(prettierFix(output)).toBe(advice);
  await rm(folder, { recursive: true });
});
