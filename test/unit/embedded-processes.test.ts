// The embedded PostgreSQL among several processes: adopted, raced for, left behind by a kill -9, run by other users.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import {
  access,
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { findPackage } from '../../server/store/embedded/binaries.ts';
import { canReach, isRoot, nobody, type Identity } from '../../server/store/embedded/identity.ts';
import { runningUrl, startEmbedded, type EmbeddedOptions } from '../../server/store/embedded/index.ts';
import { startOf } from '../../server/store/embedded/process.ts';

const linux = process.platform === 'linux';
const module = new URL('../../server/store/embedded/index.ts', import.meta.url);

/** Starts the database at each line it reads, stops it at `stop`, and answers each with one line. */
const program = `
import { createInterface } from 'node:readline';
const { startEmbedded } = await import(${JSON.stringify(module.href)});
let database;
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'stop') await database.stop();
  else database = await startEmbedded({ log: (m) => console.error(m), ...JSON.parse(line) });
  console.log(JSON.stringify(database));
}`;

interface Answer {
  url: string;
  started: boolean;
  directory: string;
}

interface Other {
  child: ChildProcessWithoutNullStreams;
  start(options?: Partial<EmbeddedOptions>): Promise<Answer>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

let base: string;
let dataDir: string;

/** Another process that uses the database. */
function another(as?: Identity, prefix: string[] = []): Other {
  const [command = '', ...args] = [
    ...prefix,
    process.execPath,
    '--import',
    'tsx',
    '--input-type=module',
    '-e',
    program,
  ];
  const child = spawn(command, args, { ...as, cwd: join(import.meta.dirname, '..', '..') });
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
    start: (options) => tell(JSON.stringify({ dataDir, ...options })),
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

/** For what announces itself by no event. */
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

/** Every process that has this folder among its arguments: PostgreSQL, its watchdog, an initdb. */
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

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'embedded-processes-'));
  await chmod(base, 0o755);
  dataDir = join(base, 'data');
});

afterEach(async () => {
  const far = await readlink(join(dataDir, 'postgres')).catch(() => undefined);
  if (linux) await noneLeft(far ?? base);
  if (far !== undefined) await rm(far, { recursive: true, force: true });
  await rm(base, { recursive: true });
});

describe('a database that another process started', () => {
  it('is adopted, left running by who adopted it, and stopped by who started it', async () => {
    const owner = await startEmbedded({ dataDir });
    const guest = another();
    expect(await guest.start()).toMatchObject({ url: owner.url, started: false });
    await guest.stop();
    expect(await runningUrl(dataDir)).toBe(owner.url);
    await guest.start();
    await owner.stop();
    expect(await runningUrl(dataDir)).toBeUndefined();
  });

  it('is started again by who still needs it, whose pool finds it by itself', async () => {
    const owner = another();
    const { url } = await owner.start();
    const guest = await startEmbedded({ dataDir });
    const pool = new pg.Pool({ connectionString: url });
    pool.on('error', () => undefined);
    await pool.query('CREATE TABLE kept AS SELECT 1 AS n');
    await owner.stop();
    await expect(pool.query('SELECT n FROM kept')).rejects.toThrow();

    const again = await startEmbedded({ dataDir });
    expect(again).toMatchObject({ started: true, url });
    expect((await pool.query('SELECT n FROM kept')).rows).toEqual([{ n: 1 }]);

    // Neither of those whose turn is over may take it away.
    await owner.stop();
    await guest.stop();
    expect(await runningUrl(dataDir)).toBe(url);
    await pool.end();
    await again.stop();
  });
});

describe.runIf(linux)('kill -9', () => {
  it('of the starter leaves no orphan, and the next start finds the data', async () => {
    const owner = another();
    const first = await owner.start();
    await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS n');
    const pid = await postmasterOf(first);
    await owner.kill();
    await eventually(async () => (await startOf(pid)) === undefined, 'PostgreSQL ends');
    await noneLeft(first.directory);

    const next = await startEmbedded({ dataDir });
    expect(next).toMatchObject({ started: true, url: first.url });
    expect(await query(next.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
    await next.stop();
  });

  it('of the starter does not hold up a start at that very moment', async () => {
    const owner = another();
    const first = await owner.start();
    await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS n');
    owner.child.kill('SIGKILL');
    const next = await startEmbedded({ dataDir });
    await owner.kill();
    expect(await query(next.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
    await next.stop();
  });

  it('of the starter leaves the database to who adopted it, until that one ends too', async () => {
    const owner = another();
    const guest = another();
    const first = await owner.start();
    expect((await guest.start()).started).toBe(false);
    const pid = await postmasterOf(first);
    await owner.kill();
    // Its guest can be sure of it for as long as it likes: the watchdog sleeps until that one is gone.
    expect(await runningUrl(dataDir)).toBe(first.url);
    const second = await startEmbedded({ dataDir });
    expect(second).toMatchObject({ started: false, url: first.url });
    await guest.kill();
    expect(await query(first.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await second.stop();
    await eventually(async () => (await startOf(pid)) === undefined, 'PostgreSQL ends');
  });

  it('of PostgreSQL itself loses nothing', async () => {
    const owner = await startEmbedded({ dataDir });
    await query(owner.url, 'CREATE TABLE kept AS SELECT 1 AS n');
    process.kill(await postmasterOf(owner), 'SIGKILL');
    const next = await startEmbedded({ dataDir });
    expect(next).toMatchObject({ started: true, url: owner.url });
    expect(await query(next.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
    await next.stop();
  });

  it('of the watchdog makes an orphan, which the next start replaces', async () => {
    const owner = another();
    const first = await owner.start();
    const pid = await postmasterOf(first);
    for (const { pid: shell, command } of await processesOf(first.directory)) {
      if (command.startsWith('/bin/sh')) process.kill(shell, 'SIGKILL');
    }
    await owner.kill();
    expect(await startOf(pid)).toBeDefined();

    const next = await startEmbedded({ dataDir });
    expect(next).toMatchObject({ started: true, url: first.url });
    expect(await startOf(pid)).toBeUndefined();
    await next.stop();
  });

  it.each(['new-cluster-', 'data', 'users.', 'port'])(
    'during the first start, when %s… appears, spoils nothing',
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
});

describe('two who start at the same instant', () => {
  it('make one cluster and both can use it', async () => {
    const both = [another(), another()];
    const answers = await Promise.all(both.map((one) => one.start()));
    expect(answers.map(({ started }) => started).sort()).toEqual([false, true]);
    expect(new Set(answers.map(({ url }) => url)).size).toBe(1);
    for (const { url } of answers) expect(await query(url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });

  it('in different folders do not meet', async () => {
    const [one, two] = await Promise.all([
      startEmbedded({ dataDir: join(dataDir, 'one') }),
      startEmbedded({ dataDir: join(dataDir, 'two') }),
    ]);
    expect([one.started, two.started]).toEqual([true, true]);
    expect(one.url).not.toBe(two.url);
    await Promise.all([one.stop(), two.stop()]);
  });
});
