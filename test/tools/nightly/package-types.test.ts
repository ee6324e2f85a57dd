// The types of the client's package are found by every way to resolve modules that an ES module has.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packClient } from '../../../scripts/packages.ts';
import { installed } from '../../support/installed.ts';
import { root, run } from '../../support/processes.ts';

it('satisfies @arethetypeswrong/cli', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'package-types-'));
  const tarball = join(folder, 'client.tgz');
  await writeFile(tarball, await packClient(root));
  const program = join(await installed('@arethetypeswrong/cli', '0.18.5'), 'dist/index.js');
  const { status, output } = await run(process.execPath, [program, tarball, '--profile', 'esm-only']);
  expect(status, output).toBe(0);
  await rm(folder, { recursive: true });
});
