// The embedded PostgreSQL with several processes: attaching, races, and kill -9.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
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
import { runningUrl, startEmbedded } from '../../server/postgres/index.ts';
import { startTimeOf } from '../../server/postgres/process.ts';

const linux = process.platform === 'linux';
const module = pathToFileURL(join(inject('compiled'), 'server/postgres/index.js'));

/** Reads `start` and `stop` commands, one per line, and answers each with a line. */
const program = `
import { createInterface } from 'node:readline';
const { startEmbedded } = await import(${JSON.stringify(module.href)});
let database;
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'start') database = await startEmbedded({ dataDir: process.argv[1] });
  else await database.stop();
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
  stop(): Promise<void>;
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
    stop: () => tell('stop').then(() => undefined),
  };
}

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

/** Polls, where there is no event to wait for. */
async function eventually(condition: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Not within 15 seconds: ${what}`);
    await sleep(10);
  }
}

async function postmasterOf({ directory }: Answer): Promise<number> {
  return Number.parseInt(await readFile(join(directory, 'data', 'postmaster.pid'), 'utf8'), 10);
}

/** All processes with this folder in their arguments: PostgreSQL, its watchdog, initdb. */
async function processesOf(folder: string): Promise<{ pid: number; command: string }[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const found = pids.map(async (pid) => ({
    pid,
    command: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
  }));
  return (await Promise.all(found)).filter(({ command }) => command.includes(folder));
}

const noneLeft = (folder: string): Promise<void> =>
  eventually(async () => (await processesOf(folder)).length === 0, 'no process is left');

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'embedded-processes-'));
  await chmod(folder, 0o755);
  return join(folder, 'data');
}

/** Waits until all its processes have ended by themselves. */
async function removeFolder(folder: string): Promise<void> {
  const far = await readlink(join(folder, 'postgres')).catch(() => undefined);
  if (linux) await noneLeft(far ?? join(folder, 'postgres'));
  if (far !== undefined) await rm(far, { recursive: true, force: true });
  await rm(dirname(folder), { recursive: true });
}

describe('an existing database', () => {
  let directory: string;

  beforeAll(async () => {
    dataDir = await makeFolder();
    const database = await startEmbedded({ dataDir });
    await query(database.url, 'CREATE TABLE kept AS SELECT 1 AS n');
    await database.stop();
    directory = database.directory;
  });

  afterEach(() => (linux ? noneLeft(directory) : undefined));

  afterAll(() => removeFolder(dataDir));

  describe('that another process started', () => {
    it('can be attached to; detaching leaves it running, and its starter stops it', async () => {
      const owner = await startEmbedded({ dataDir });
      const guest = another();
      expect(await guest.start()).toMatchObject({ url: owner.url, started: false });
      await guest.stop();
      expect(await runningUrl(dataDir)).toBe(owner.url);
      await guest.start();
      await owner.stop();
      expect(await runningUrl(dataDir)).toBeUndefined();
    });

    it('is restarted by a process that still needs it, and the pool reconnects', async () => {
      const owner = another();
      const { url } = await owner.start();
      const guest = await startEmbedded({ dataDir });
      const pool = new pg.Pool({ connectionString: url });
      pool.on('error', () => undefined);
      await owner.stop();
      await expect(pool.query('SELECT n FROM kept')).rejects.toThrow();

      const again = await startEmbedded({ dataDir });
      expect(again).toMatchObject({ started: true, url });
      expect((await pool.query('SELECT n FROM kept')).rows).toEqual([{ n: 1 }]);

      // Neither of the earlier users may stop it.
      await owner.stop();
      await guest.stop();
      expect(await runningUrl(dataDir)).toBe(url);
      await pool.end();
      await again.stop();
    });
  });

  describe.runIf(linux)('after kill -9', () => {
    it('of the starter leaves no orphan, and the next start finds the data', async () => {
      const owner = another();
      const first = await owner.start();
      const pid = await postmasterOf(first);
      await owner.kill();
      await eventually(async () => (await startTimeOf(pid)) === undefined, 'PostgreSQL ends');
      await noneLeft(first.directory);

      const next = await startEmbedded({ dataDir });
      expect(next).toMatchObject({ started: true, url: first.url });
      expect(await query(next.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
      await next.stop();
    });

    it('of the starter does not delay a start at the same moment', async () => {
      const owner = another();
      await owner.start();
      owner.child.kill('SIGKILL');
      const next = await startEmbedded({ dataDir });
      await owner.kill();
      expect(await query(next.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
      await next.stop();
    });

    it('of the starter leaves the database running until the attached process ends too', async () => {
      const owner = another();
      const guest = another();
      const first = await owner.start();
      expect((await guest.start()).started).toBe(false);
      const pid = await postmasterOf(first);
      await owner.kill();
      // The watchdog waits as long as another process is attached.
      expect(await runningUrl(dataDir)).toBe(first.url);
      const second = await startEmbedded({ dataDir });
      expect(second).toMatchObject({ started: false, url: first.url });
      await guest.kill();
      expect(await query(first.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
      await second.stop();
      await eventually(async () => (await startTimeOf(pid)) === undefined, 'PostgreSQL ends');
    });

    it('of PostgreSQL itself loses nothing', async () => {
      const owner = await startEmbedded({ dataDir });
      process.kill(await postmasterOf(owner), 'SIGKILL');
      const next = await startEmbedded({ dataDir });
      expect(next).toMatchObject({ started: true, url: owner.url });
      expect(await query(next.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
      await next.stop();
    });

    it('of the watchdog leaves an orphan, which the next start replaces', async () => {
      const owner = another();
      const first = await owner.start();
      const pid = await postmasterOf(first);
      const shells = async () =>
        (await processesOf(first.directory)).filter(({ command }) => command.startsWith('/bin/sh'));
      // It is started after PostgreSQL, and may not be there yet.
      await eventually(async () => (await shells()).length > 0, 'the watchdog is there');
      // All are stopped before one is killed: a shell whose child dies takes it for the end of its work, and stops PostgreSQL.
      // More than once, because the shell that was seen may just have started another one.
      const stopped = new Set<number>();
      const signal = (shell: number, name: 'SIGSTOP' | 'SIGKILL') => {
        try {
          process.kill(shell, name);
        } catch {
          // It has ended by itself.
        }
      };
      for (;;) {
        const left = (await shells()).filter((shell) => !stopped.has(shell.pid));
        if (left.length === 0) break;
        for (const shell of left) signal(shell.pid, 'SIGSTOP');
        for (const shell of left) stopped.add(shell.pid);
      }
      for (const shell of stopped) signal(shell, 'SIGKILL');
      await eventually(async () => (await shells()).length === 0, 'the watchdog ends');
      await owner.kill();
      expect(await startTimeOf(pid)).toBeDefined();

      const next = await startEmbedded({ dataDir });
      expect(next).toMatchObject({ started: true, url: first.url });
      expect(await startTimeOf(pid)).toBeUndefined();
      await next.stop();
    });
  });
});

describe('a folder without a database', () => {
  beforeEach(async () => {
    dataDir = await makeFolder();
  });

  afterEach(() => removeFolder(dataDir));

  it.runIf(linux).each(['new-cluster-', 'data', 'users.'])(
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
      expect((await names()).filter((name) => name.startsWith('new-'))).toEqual([]);
    },
  );

  it('is created once by two processes that start at the same time, and both can use it', async () => {
    const both = [another(), another()];
    const answers = await Promise.all(both.map((one) => one.start()));
    expect(answers.map(({ started }) => started).sort()).toEqual([false, true]);
    expect(new Set(answers.map(({ url }) => url)).size).toBe(1);
    for (const { url } of answers) expect(await query(url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await Promise.all(both.map((one) => one.kill()));
  });
});
