import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function run(command: string, args: string[]): void {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args[0] ?? ''} failed.\n${stdout}${stderr}`.trimEnd());
}

/** The tarball of a package whose files `write` makes in a folder. The same files always give the same bytes. */
export async function pack(
  manifest: { name: string; version: string },
  write: (folder: string) => void | Promise<void>,
): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), `${manifest.name}-`));
  try {
    await write(folder);
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    // Not dry, also if a dry `npm pack` of the project called this.
    run('npm', ['pack', '--silent', '--no-dry-run', folder, '--pack-destination', folder]);
    return readFileSync(join(folder, `${manifest.name}-${manifest.version}.tgz`));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
