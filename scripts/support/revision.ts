import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes the commit of this clone into the folder of a build, where server/kit/installation.ts reads it. Nothing without a Git folder of
 * its own: Git would otherwise name the commit of a repository around it. Always 12 digits, because Git's default depends on the
 * number of objects in the clone. With `-dirty` if files differ from that commit, or are not in it.
 */
export function writeRevision(folder: string, built: string): void {
  if (!existsSync(join(folder, '.git'))) return;
  const options = { cwd: folder, encoding: 'utf8', stdio: 'pipe' } as const;
  try {
    const revision = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], options).trim();
    // Without locks, because it may run beside a `git commit`.
    const status = ['--no-optional-locks', 'status', '--porcelain'];
    const dirty = execFileSync('git', status, options) === '' ? '' : '-dirty';
    writeFileSync(join(built, 'revision'), `${revision}${dirty}\n`);
  } catch {
    // Git is not installed, or there is no commit yet.
  }
}
