// The embedded PostgreSQL with several processes: adoption, races, and kill -9.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  it,
  onTestFinished,
} from 'vitest';
import { runningUrl, startEmbedded, stopEmbedded } from '../../server/database/embedded/index.ts';
import { eventually, nothingRunsOn } from '../support/data-dir.ts';
import { query } from '../support/database.ts';

const linux = process.platform === 'linux';
const module = pathToFileURL(join(inject('compiled'), 'server/database/embedded/index.js'));

/** Reads `start`, `stop` and `release`, one per line, and answers each with a line. */
const program = `
import { createInterface } from 'node:readline';
const { startEmbedded } = await import(${JSON.stringify(module.href)});
let database;
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'start') database = await startEmbedded({ dataDir: process.argv[1] });
  else await database[line]();
  console.log(JSON.stringify(database));
}`;

interface Answer {
  url: string;
  started: boolean;
  directory: string;
}

interface Other {
  child: ChildProcessWithoutNullStreams;
  start(): Promise<Answer>;
  release(): Promise<void>;
  kill(): Promise<void>;
}

let dataDir: string;

/** Another process that uses the database. */
function another(): Other {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, dataDir], {
    cwd: join(import.meta.dirname, '..', '..'),
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  const exited = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(kill);
  const tell = async (line: string): Promise<Answer> => {
    child.stdin.write(`${line}\n`);
    const answer = await lines.next();
    if (answer.done === true) throw new Error(`The other process ended: ${complaints}`);
    return JSON.parse(answer.value) as Answer;
  };
  return {
    child,
    kill,
    start: () => tell('start'),
    release: () => tell('release').then(() => undefined),
  };
}

async function postmasterOf({ directory }: Answer): Promise<number> {
  return Number.parseInt(await readFile(join(directory, 'data', 'postmaster.pid'), 'utf8'), 10);
}

async function presentUsers(url: string): Promise<number> {
  const present = "SELECT FROM pg_stat_activity WHERE application_name = 'payments-service present'";
  return (await query(url, present)).length;
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'embedded-processes-'));
  await chmod(folder, 0o755);
  return join(folder, 'data');
}

const stopped = (): Promise<void> =>
  eventually(async () => (await stopEmbedded(dataDir)) !== 'in use', 'nothing uses the database');

describe('an existing database', () => {
  beforeAll(async () => {
    dataDir = await makeFolder();
    const database = await startEmbedded({ dataDir });
    await query(database.url, 'CREATE TABLE kept AS SELECT 1 AS n');
    await database.stop();
  });

  afterEach(() => nothingRunsOn(dataDir));

  afterAll(() => rm(dirname(dataDir), { recursive: true }));

  it('is adopted by a second process, and stopped by the last one that leaves', async () => {
    const [first, second] = [another(), another()];
    const { url } = await first.start();
    expect(await second.start()).toMatchObject({ url, started: false });
    await first.release();
    expect(await runningUrl(dataDir)).toBe(url);
    expect(await stopEmbedded(dataDir)).toBe('in use');
    await second.release();
    expect(await runningUrl(dataDir)).toBeUndefined();
    expect(await stopEmbedded(dataDir)).toBe('not running');
  });

  it('is stopped when two processes leave at the same time', async () => {
    const both = [another(), another()];
    for (const one of both) await one.start();
    await Promise.all(both.map((one) => one.release()));
    expect(await runningUrl(dataDir)).toBeUndefined();
  });

  it('is restarted by a process that still needs it, and the pool reconnects', async () => {
    const owner = await startEmbedded({ dataDir });
    const guest = await startEmbedded({ dataDir });
    const pool = new pg.Pool({ connectionString: owner.url });
    pool.on('error', () => undefined);
    await owner.stop();
    await expect(pool.query('SELECT n FROM kept')).rejects.toThrow();

    const again = await startEmbedded({ dataDir });
    expect(again).toMatchObject({ started: true, url: owner.url });
    expect((await pool.query('SELECT n FROM kept')).rows).toEqual([{ n: 1 }]);

    // Those who used the former server do not stop this one.
    await owner.stop();
    await guest.stop();
    expect(await runningUrl(dataDir)).toBe(owner.url);
    await pool.end();
    await again.stop();
  });

  describe.runIf(linux)('after kill -9', () => {
    it('of its only user runs on, and the next start adopts it and stops it in the end', async () => {
      const owner = another();
      const first = await owner.start();
      const pid = await postmasterOf(first);
      await owner.kill();

      const next = await startEmbedded({ dataDir });
      expect(next).toMatchObject({ started: false, url: first.url });
      expect(await postmasterOf(next)).toBe(pid);
      expect(await query(next.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
      await eventually(async () => (await presentUsers(next.url)) === 1, 'PostgreSQL notices the kill');
      await next.release();
    });

    it('of its only user is stopped by stopEmbedded', async () => {
      const owner = another();
      await owner.start();
      await owner.kill();
      await stopped();
    });

    it('of PostgreSQL itself loses nothing', async () => {
      const owner = await startEmbedded({ dataDir });
      process.kill(await postmasterOf(owner), 'SIGKILL');
      const next = await startEmbedded({ dataDir });
      expect(next).toMatchObject({ started: true, url: owner.url });
      expect(await query(next.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
      await next.stop();
    });
  });
});

describe('a folder without a database', () => {
  beforeEach(async () => {
    dataDir = await makeFolder();
  });

  afterEach(async () => {
    await stopped();
    await nothingRunsOn(dataDir);
    await rm(dirname(dataDir), { recursive: true });
  });

  it.runIf(linux).each(['new-cluster-', 'data', 'postgres.log'])(
    'survives a kill -9 of its first starter when %s… appears',
    async (mark) => {
      const owner = another();
      owner.start().catch(() => undefined);
      const folder = join(dataDir, 'postgres');
      const names = () => readdir(folder).catch((): string[] => []);
      await eventually(async () => (await names()).some((name) => name.startsWith(mark)), `${mark} appears`);
      await owner.kill();

      const next = await startEmbedded({ dataDir });
      expect(await query(next.url, 'SELECT current_database() AS name')).toEqual([{ name: 'payments' }]);
      await next.stop();
    },
  );
});
