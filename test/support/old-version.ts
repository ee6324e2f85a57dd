/** The code of an earlier release, taken from the history of git, so that two versions can run on one database. */
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileInto } from './compile.ts';

const root = join(import.meta.dirname, '..', '..');

/** The commits that released them. */
const releases = {
  '1.0.1': 'baa18c8baf8a430e4e5864d57a612e3954f4f140',
  '1.2.0': '2758b695922b65549a767efab1fb4f1225e205af',
};
type Release = keyof typeof releases;

export interface OldVersion extends AsyncDisposable {
  /** For the `cwd` of `startServer` and `startNode`. */
  folder: string;
}

/** Undefined where there is no history: in a shallow clone or an archive. */
export async function unpackOldVersion(release: Release = '1.0.1'): Promise<OldVersion | undefined> {
  const files = readRelease(release);
  if (!files) return undefined;
  const folder = await mkdtemp(join(tmpdir(), `payments-${release}-`));
  await chmod(folder, 0o755);
  const archive = join(folder, 'release.tar');
  await writeFile(archive, files);
  execFileSync('tar', ['-xf', archive, '-C', folder]);
  await rm(archive);
  // Its dependencies have the same versions as ours. Once they differ, this must become an `npm ci`.
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await compileInto(folder, folder);
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

function readRelease(release: Release): Buffer | undefined {
  const parts = ['package.json', 'generated', 'openapi', 'server', 'client'];
  try {
    return execFileSync('git', ['archive', '--format=tar', releases[release], ...parts], {
      cwd: root,
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return undefined;
  }
}
