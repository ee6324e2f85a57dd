/** Creates copies of the project with the files that are in Git, or will be, and with the packages that are installed here. */
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Workspace } from './contract-copy.ts';
import { root, run } from './processes.ts';

export async function cloneProject(): Promise<Workspace> {
  const folder = await mkdtemp(join(tmpdir(), 'clone-'));
  const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard']);
  const files = stdout.split('\n').filter((file) => file !== '' && existsSync(join(root, file)));
  for (const file of files) await cp(join(root, file), join(folder, file));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
