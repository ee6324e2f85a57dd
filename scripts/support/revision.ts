import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The commit of this clone. Undefined without a Git folder of its own: Git would otherwise name the commit of a repository
 * around it. Always 12 digits, because Git's default depends on the number of objects in the clone. With `-dirty` if files differ
 * from that commit, or are not in it.
 */
export function findRevision(folder: string): string | undefined {
  if (!existsSync(join(folder, '.git'))) return undefined;
  try {
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim();
    return `${git('rev-parse', '--short=12', 'HEAD')}${git('status', '--porcelain') === '' ? '' : '-dirty'}`;
  } catch {
    // Git is not installed, or there is no commit yet.
    return undefined;
  }
}

/** Into the folder of a build, where server/installation.ts reads it. */
export function writeRevision(folder: string, built: string): void {
  const revision = findRevision(folder);
  if (revision !== undefined) writeFileSync(join(built, 'revision'), `${revision}\n`);
}
