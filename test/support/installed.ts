/** Programs of others that only nightly tests use. They are installed into the cache, so that the project does not depend on them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './processes.ts';

/** Returns the folder of the package. `beside` are what it needs in exact versions, too. */
export async function installed(name: string, version: string, ...beside: string[]): Promise<string> {
  const folder = join(root, '.cache', `${name}@${version}`);
  const found = join(folder, 'node_modules', name);
  if (existsSync(found)) return found;
  const { status, output } = await run('npm', [
    'install',
    '--prefix',
    folder,
    `${name}@${version}`,
    ...beside,
  ]);
  if (status !== 0) throw new Error(`${name} cannot be installed: ${output}`);
  return found;
}
