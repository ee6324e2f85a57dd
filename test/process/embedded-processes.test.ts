// The embedded PostgreSQL with several processes: adoption, races, and kill -9.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, inject, it, onTestFinished } from 'vitest';
import { runningUrl, startEmbedded } from '../../server/kit/database/embedded/index.ts';
import { eventually, newDataDir, nothingRunsOn, type DataDir } from '../support/data-dir.ts';
import { query } from '../support/database.ts';
import { startCommand } from '../support/processes.ts';

const linux = process.platform === 'linux';
const module = pathToFileURL(join(inject('compiled'), 'server/kit/database/embedded/index.js'));

/** Reads `start` and `release`, one per line, and answers each with a line. */
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

let dataDir: DataDir;

/** Another process that uses the database. */
function another() {
  const child = startCommand(process.execPath, ['--input-type=module', '-e', program, dataDir.path]);
  const lines = createInterface({ input: child.process.stdout })[Symbol.asyncIterator]();
  const kill = () => {
    child.process.kill('SIGKILL');
    return child.ended;
  };
  onTestFinished(async () => void (await kill()));
  const tell = async (line: 'start' | 'release'): Promise<Answer> => {
    child.process.stdin.write(`${line}\n`);
    const answer = await lines.next();
    if (answer.done === true) throw new Error(`The other process ended: ${child.stderr()}`);
    return JSON.parse(answer.value) as Answer;
  };
  return { kill, start: () => tell('start'), release: () => tell('release') };
}

async function postmasterOf({ directory }: Answer): Promise<number> {
  return Number.parseInt(await readFile(join(directory, 'data', 'postmaster.pid'), 'utf8'), 10);
}

async function presentUsers(url: string): Promise<number> {
  const present = "SELECT FROM pg_stat_activity WHERE application_name = 'payments-service present'";
  return (await query(url, present)).length;
}

beforeEach(async () => {
  dataDir = await newDataDir();
});

afterEach(() => dataDir[Symbol.asyncDispose]());

it('is adopted by a second process, and stopped by the last one that leaves', async () => {
  const [first, second] = [another(), another()];
  const { url } = await first.start();
  expect(await second.start()).toMatchObject({ url, started: false });
  await first.release();
  expect(await runningUrl(dataDir.path)).toBe(url);
  await second.release();
  expect(await runningUrl(dataDir.path)).toBeUndefined();
});

it.runIf(linux)(
  'runs on after kill -9 of its only user, and the next start adopts it and stops it in the end',
  async () => {
    const owner = another();
    const first = await owner.start();
    const pid = await postmasterOf(first);
    await owner.kill();

    const next = await startEmbedded({ dataDir: dataDir.path });
    expect(next).toMatchObject({ started: false, url: first.url });
    expect(await postmasterOf(next)).toBe(pid);
    await eventually(async () => (await presentUsers(next.url)) === 1, 'PostgreSQL notices the kill');
    await next.release();
    await nothingRunsOn(dataDir.path);
  },
);

it.runIf(linux).each(['new-cluster-', 'data', 'postgres.log'])(
  'survives a kill -9 of its first starter when %s… appears',
  async (mark) => {
    const owner = another();
    owner.start().catch(() => undefined);
    const folder = join(dataDir.path, 'postgres');
    const names = () => readdir(folder).catch((): string[] => []);
    await eventually(async () => (await names()).some((name) => name.startsWith(mark)), `${mark} appears`);
    await owner.kill();

    const next = await startEmbedded({ dataDir: dataDir.path });
    expect(await query(next.url, 'SELECT current_database() AS name')).toEqual([{ name: 'payments' }]);
    await next.stop();
  },
);
