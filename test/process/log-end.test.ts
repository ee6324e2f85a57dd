// The log at the end of a process: nothing is lost for a reader that is slow, and one that does not read holds nothing up. And on a
// full disk.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/data-dir.ts';
import { run, startCommand } from '../support/processes.ts';

type Line = Record<string, unknown>;

const codeOf = (script: string) =>
  `import { createLog, flushLog } from './server/kit/log/log.ts';\nconst log = createLog('info');\n${script}`;

const logging = (script: string) =>
  startCommand(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', codeOf(script)]);

/** More than a pipe holds. */
const manyLines = `
  for (let index = 0; index < 20_000; index += 1) log.info({ index }, 'one of many');
  console.error('logged');`;
/** What a reader gets who begins to read when all is logged. */
const readLate = async (script: string) => {
  const child = logging(script);
  child.process.stdout.pause();
  await once(child.process.stderr, 'data');
  child.process.stdout.resume();
  const { status, stdout } = await child.ended;
  const lines = stdout.trim().split('\n');
  return { status, lines: lines.map((line) => JSON.parse(line) as Line) };
};

it('its last lines are written, and wait for a reader that is slow', async () => {
  const { status, lines } = await readLate(`${manyLines} process.exit(3);`);
  expect(lines.map(({ index }) => index)).toEqual(Array.from({ length: 20_000 }, (_, index) => index));
  expect(status).toBe(3);
});

it('the reason of a failed start, which is written without the log, is not put into one of its lines', async () => {
  const { lines } = await readLate(`${manyLines} flushLog(); process.stdout.write('{"level":60}\\n');`);
  expect(lines).toHaveLength(20_001);
  expect(lines.at(-1)).toEqual({ level: 60 });
});

it('some 16 MB wait for a reader that does not read, further lines are dropped, and it is told how many', async () => {
  const all = 24_000;
  const { lines } = await readLate(`
    const text = 'x'.repeat(900);
    for (let index = 0; index < ${all}; index += 1) log.info({ index, text }, 'one of many');
    console.error('logged');
    process.exit(0);`);
  const kept = lines.slice(0, -1);
  expect(kept.map(({ index }) => index)).toEqual(kept.map((_, place) => place));
  expect(kept.length).toBeGreaterThan(14_000);
  expect(kept.length).toBeLessThan(22_000);
  expect(lines.at(-1)?.msg).toBe(`${all - kept.length} lines were dropped: nobody read the log`);
});

it('a reader that does not read cannot hold it up', async () => {
  const child = logging(`${manyLines} process.exit(3);`);
  child.process.stdout.pause();
  expect(await once(child.process, 'exit')).toEqual([3, null]);
  child.process.stdout.destroy();
});

it('nor can one that is gone', async () => {
  const child = logging(`
    process.stdin.once('data', () => { log.info('last'); process.exit(3); });
    log.info('first');
    log.flush();`);
  await once(child.process.stdout, 'data');
  child.process.stdout.destroy();
  child.process.stdin.write('x');
  expect((await child.ended).status).toBe(3);
});

/** A program whose log goes to a file that must not grow, as on a full disk, until the end of `whileFull`. */
async function logToFull(
  script: string,
  whileFull: (heard: (word: string) => Promise<void>) => Promise<void>,
) {
  const folder = await mkdtemp(join(tmpdir(), 'payments-log-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'log');
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', codeOf(script)];
  // In blocks of 512 bytes. Only the soft limit, which can be lifted again. Node ignores the signal of that limit.
  const limited = 'ulimit -S -f 9 && file=$1 && shift && exec "$@" >"$file"';
  const child = startCommand('sh', ['-c', limited, 'sh', file, ...node]);
  await whileFull((word) => eventually(() => child.stderr().includes(word), word));
  await run('prlimit', ['--pid', String(child.process.pid), '--fsize=unlimited']);
  child.process.stdin.end('x');
  await child.ended;
  return (await readFile(file, 'utf8')).trim().split('\n').map(readLine);
}

/** Two lines in one cannot be read. */
const readLine = (text: string): Line => {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return { unreadable: text };
  }
};

describe.runIf(existsSync('/usr/bin/prlimit'))('on a full disk', () => {
  it('its lines wait until they can be written, whole and in order', async () => {
    const lines = await logToFull(
      `for (let index = 0; index < 200; index += 1) log.info({ index }, 'one of many');
      log.flush();
      console.error('full');
      process.stdin.once('data', () => { log.info({ index: 200 }, 'one more'); log.flush(); process.exit(0); });`,
      (heard) => heard('full'),
    );
    expect(lines.map(({ index }) => index)).toEqual(Array.from({ length: 201 }, (_, index) => index));
  });

  it('some 16 MB wait, further lines are dropped, and the first line after that says how many', async () => {
    const all = 24_000;
    const lines = await logToFull(
      `const text = 'x'.repeat(900);
      for (let index = 0; index < ${all}; index += 1) log.info({ index, text }, 'one of many');
      console.error('full');
      process.stdin.once('data', () => { log.flush(); log.info('again'); process.exit(0); });`,
      (heard) => heard('full'),
    );
    const kept = lines.slice(0, -2);
    expect(kept.map(({ index }) => index)).toEqual(kept.map((_, place) => place));
    expect(kept.length).toBeGreaterThan(14_000);
    expect(lines.slice(-2).map(({ msg }) => msg)).toEqual([
      `${all - kept.length} lines were dropped: the log could not be written (EFBIG)`,
      'again',
    ]);
  });
});
