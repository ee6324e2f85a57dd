// The log at the end of a process: nothing is lost for a reader that is slow, and one that does not read holds nothing up.
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { startCommand } from '../support/processes.ts';

type Line = Record<string, unknown>;

const logging = (script: string) => {
  const code = `import { createLog, flushLog } from './server/log.ts';\nconst log = createLog('info');\n${script}`;
  return startCommand(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code]);
};
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
