// Root starts or operates the service in a DATA_DIR of another user, who may not be a friend: no link that is planted there
// leads root to write, hand over, copy or delete anything elsewhere.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, chown, lchown, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  makeDataDirectory,
  writePrivate,
  isRoot,
  nobody,
  type Identity,
} from '../../server/kit/database/embedded/data-dir.ts';
import { findFolder, makeFolder } from '../../server/kit/database/embedded/folder.ts';
import { startEmbedded } from '../../server/kit/database/embedded/index.ts';
import { makeSandboxSecrets, saveCardKeys } from '../../server/kit/secrets/secrets-file.ts';

let base: string;
let dataDir: string;
/** A file and a folder that are root's alone. */
let rootsFile: string;
let rootsFolder: string;
let attacker: Identity;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'planted-'));
  await chmod(base, 0o755);
  [dataDir, rootsFile, rootsFolder] = [join(base, 'data'), join(base, 'shadow'), join(base, 'etc')];
  await writeFile(rootsFile, 'secret', { mode: 0o600 });
  await mkdir(rootsFolder, { mode: 0o700 });
  await mkdir(dataDir, { mode: 0o755 });
  if (!isRoot()) return;
  attacker = nobody();
  await chown(dataDir, attacker.uid, attacker.gid);
});

// An attacker that was killed may still end its last step.
afterEach(() => rm(base, { recursive: true, maxRetries: 10 }));

async function plant(name: string, target: string): Promise<void> {
  await symlink(target, join(dataDir, name));
  await lchown(join(dataDir, name), attacker.uid, attacker.gid);
}

function expectUntouched(): void {
  expect(readFileSync(rootsFile, 'utf8')).toBe('secret');
  for (const path of [rootsFile, rootsFolder]) expect(statSync(path).uid, path).toBe(0);
}

/** A plain file of the folder's owner, for nobody else. */
function expectPrivate(name: string): void {
  const found = lstatSync(join(dataDir, name));
  expect({ isFile: found.isFile(), mode: found.mode & 0o777, uid: found.uid }, name).toEqual({
    isFile: true,
    mode: 0o600,
    uid: attacker.uid,
  });
}

describe.skipIf(!isRoot())('root in a folder of another user (skipped for other users)', () => {
  it('writes secrets that are for the owner of the folder alone, and leaves no draft', () => {
    makeSandboxSecrets(dataDir, ['CARD_KEY']);
    expectPrivate('secrets.json');
    saveCardKeys(dataDir, [randomBytes(32)]);
    expectPrivate('secrets.json');
    expect(readdirSync(dataDir)).toEqual(['secrets.json']);
  });

  it('does not copy secrets of another installation, which a link names', async () => {
    makeSandboxSecrets(rootsFolder, ['CARD_KEY']);
    await plant('secrets.json', join(rootsFolder, 'secrets.json'));
    expect(() => makeSandboxSecrets(dataDir, ['CARD_KEY', 'NEW_KEY'])).toThrow(
      /secrets\.json is a symbolic link.*put the file itself there/,
    );
    expect(lstatSync(join(dataDir, 'secrets.json')).isSymbolicLink()).toBe(true);
  });

  it('writes the password while its drafts are exchanged for links', async () => {
    // As quickly as it can, the attacker makes every draft a link to root's file.
    const script =
      'echo ready; while :; do for f in "$1"/*.* "$1"/*.new; do [ -f "$f" ] && [ ! -L "$f" ] && ln -sf "$2" "$f"; done; done';
    const racing = spawn('/bin/sh', ['-c', script, 'sh', dataDir, rootsFile], attacker);
    await once(racing.stdout, 'data');
    try {
      const until = Date.now() + 1_500;
      while (Date.now() < until) writePrivate(join(dataDir, 'postgres-password'), 'password');
    } finally {
      racing.kill('SIGKILL');
    }
    expectUntouched();
  });

  it('does not hand over a folder that the database folder is linked to', async () => {
    await writeFile(join(rootsFolder, 'passwd'), 'root', { mode: 0o600 });
    await plant('postgres', rootsFolder);
    expect(() => makeFolder(dataDir, () => undefined)).toThrow(/postgres .*belongs to/);
    expectUntouched();
    expect(statSync(join(rootsFolder, 'passwd')).uid).toBe(0);
  });

  it('makes no folder where the database folder is linked to', async () => {
    await plant('postgres', join(rootsFolder, 'made'));
    expect(() => makeFolder(dataDir, () => undefined)).toThrow(
      /is a link to a folder that does not exist: remove the link/,
    );
    expect(readdirSync(rootsFolder)).toEqual([]);
  });

  it('runs the database as the owner of DATA_DIR, without the group of root', async () => {
    await chown(dataDir, 1, 0);
    const chosen = makeFolder(dataDir, () => undefined);
    const identity = { uid: 1, gid: attacker.gid };
    expect(chosen).toMatchObject({ directory: join(dataDir, 'postgres'), identity });
    expect(statSync(chosen.directory)).toMatchObject(identity);
    expect(statSync(chosen.directory).mode & 0o777).toBe(0o700);
  });

  it('changes no cluster elsewhere that the data folder is linked to', async () => {
    await mkdir(join(dataDir, 'postgres'), { mode: 0o700 });
    await chown(join(dataDir, 'postgres'), attacker.uid, attacker.gid);
    const pidFile = `${process.pid}\n${rootsFolder}\n`;
    await writeFile(join(rootsFolder, 'postmaster.pid'), pidFile);
    await writeFile(join(rootsFolder, 'PG_VERSION'), '18\n');
    await writeFile(join(dataDir, 'postgres-password'), 'password', { mode: 0o600 });
    await chown(join(dataDir, 'postgres-password'), attacker.uid, attacker.gid);
    await plant('postgres/data', rootsFolder);
    await expect(startEmbedded({ dataDir })).rejects.toThrow(/did not start/);
    expectUntouched();
    expect(readdirSync(rootsFolder).sort()).toEqual(['PG_VERSION', 'postmaster.pid']);
    expect(readFileSync(join(rootsFolder, 'postmaster.pid'), 'utf8')).toBe(pidFile);
  });
});

describe('a DATA_DIR that others may write to', () => {
  it('gets no secret from anybody', async () => {
    await chmod(dataDir, 0o777);
    expect(() => makeDataDirectory(dataDir)).toThrow(/everybody.*chmod o-w/);
    expect(() => makeSandboxSecrets(dataDir, ['CARD_KEY'])).toThrow(/everybody.*chmod o-w/);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it('gets no database if that is true of the database folder: they could put their own socket there', async () => {
    await mkdir(join(dataDir, 'postgres'));
    await chmod(join(dataDir, 'postgres'), 0o777);
    const { uid, gid } = statSync(dataDir);
    await chown(join(dataDir, 'postgres'), uid, gid);
    expect(() => makeFolder(dataDir, () => undefined)).toThrow(/everybody.*chmod o-w/);
    expect(() => findFolder(dataDir)).toThrow(/everybody.*chmod o-w/);
  });

  it.skipIf(!isRoot())('gets none from root if it is root’s and open to a group (needs root)', async () => {
    await chown(dataDir, 0, attacker.gid);
    await chmod(dataDir, 0o775);
    expect(() => makeDataDirectory(dataDir)).toThrow(/group.*chmod g-w/);
  });
});

it('a DATA_DIR that is a file is refused, with what to do next', async () => {
  await writeFile(join(dataDir, 'file'), '');
  const advice = /cannot be read or written \(E\w+\).*choose another DATA_DIR/;
  for (const path of ['file', 'file/inner'])
    expect(() => makeDataDirectory(join(dataDir, path)), path).toThrow(advice);
});

it('a draft that was interrupted is not taken for the file', async () => {
  await chmod(dataDir, 0o700);
  await writeFile(join(dataDir, 'secrets.json.0123456789abcdef'), '{');
  makeSandboxSecrets(dataDir, ['CARD_KEY']);
  expect(JSON.parse(await readFile(join(dataDir, 'secrets.json'), 'utf8'))).toHaveProperty('CARD_KEY');
});
