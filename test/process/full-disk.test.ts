// The disk of the database is full: /readyz says so, commands say what to do, and everything works again when there is space.
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmbedded, type EmbeddedDatabase } from '../../server/kit/database/embedded/index.ts';
import { codeOf } from '../../server/kit/faults.ts';
import { card } from '../support/card.ts';
import { eventually, processesOn } from '../support/data-dir.ts';
import { query } from '../support/database.ts';
import { paymentsHere } from '../support/in-process.ts';
import { startTestService, type TestService } from '../support/service.ts';

const isMounted = (folder: string) =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256m,mode=755', 'tmpfs', folder]).status === 0;

const folder = await mkdtemp(join(tmpdir(), 'payments-disk-'));
await chmod(folder, 0o755);
/** A disk of a few megabytes, which only root can make. */
const hasDisk = process.platform === 'linux' && isMounted(folder);
if (!hasDisk) console.warn('The test of a full disk is skipped: it mounts a tmpfs, for which it needs root');

describe.runIf(hasDisk)('a full disk', () => {
  const filler = join(folder, 'filler');
  let database: EmbeddedDatabase;
  let service: TestService;
  beforeAll(async () => {
    database = await startEmbedded({ dataDir: join(folder, 'data') });
    service = await startTestService({ config: { databaseUrl: database.url } });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await database.stop();
  });

  const readiness = async () => {
    const response = await fetch(`${service.url}/readyz`);
    return [response.status, await response.json()];
  };
  const store = async () => {
    const token = service.token('*.write');
    return (await service.call('POST', '/payment-methods', { token, body: card })).status;
  };
  const seed = () =>
    paymentsHere(['seed', '--transactions', '300'], {
      DATABASE_URL: database.url,
      DATA_DIR: service.config.dataDir,
      CARD_KEY: service.config.secrets.CARD_KEY?.[0].toString('base64'),
    });

  /** PostgreSQL ends when it has no space for its log, so that begins a file of its own, which is made at its full size. */
  async function fill(): Promise<void> {
    await query(database.url, 'select pg_switch_wal()');
    expect(await store()).toBe(201);
    fillDisk();
  }

  function fillDisk(): void {
    const file = openSync(filler, 'w');
    for (const size of [65_536, 4_096])
      try {
        for (;;) writeSync(file, Buffer.alloc(size));
      } catch (error) {
        expect(codeOf(error)).toBe('ENOSPC');
      }
    closeSync(file);
  }

  it('makes /readyz 503 from the first write that fails until there is space again', async () => {
    await fill();
    expect(await readiness()).toEqual([200, { status: 'ready' }]);
    // Tables have some space left.
    while ((await store()) === 201);
    const full = [503, { status: 'not ready', reason: 'database disk full' }];
    expect(await readiness()).toEqual(full);
    expect(await readiness()).toEqual(full);
    const logged = service.logs.find((line) => line.includes('"code":"53100"')) ?? '';
    expect(logged).toContain('docs/operating.md');

    const { status, stderr } = await seed();
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^The disk of the database is full: .*\n$/)]);
    expect(stderr).toContain('Free space');

    await rm(filler);
    expect(await readiness()).toEqual([200, { status: 'ready' }]);
    expect(await store()).toBe(201);
    expect((await seed()).status).toBe(0);
    expect(await query(database.url, `select from pg_class where relname = 'disk_probe'`)).toEqual([]);
  });

  it.each(['data', 'new'])('is named when the database in DATA_DIR (%s) cannot be started', async (name) => {
    await service.service.close();
    await database.stop();
    fillDisk();
    const create = ['accounts', 'create', name, '--name', name];
    const { status, stderr } = await paymentsHere(create, { DATA_DIR: join(folder, name) });
    await rm(filler);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/disk is full.*Free space/)]);
    expect(await processesOn(folder)).toEqual([]);
  });
});

afterAll(async () => {
  // PostgreSQL's processes take a moment to end.
  if (hasDisk) await eventually(() => spawnSync('umount', [folder]).status === 0, 'the disk is not in use');
  await rm(folder, { recursive: true, force: true });
});
