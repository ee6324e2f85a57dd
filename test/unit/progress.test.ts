// The spinner of long commands has colours on a terminal, except with NO_COLOR.
import { PassThrough } from 'node:stream';
import { WriteStream } from 'node:tty';
import chalk from 'chalk';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { withProgress } from '../../server/kit/cli/progress.ts';

// chalk, which the spinner uses, decides when it is loaded whether this process has a terminal with colours, and tests have none.
beforeAll(() => {
  chalk.level = 1;
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** What the terminal gets until the spinner stops, with Node's own functions for terminals. */
async function shown({ columns = 80 } = {}): Promise<string | null> {
  const { hasColors, getColorDepth, cursorTo, clearLine, moveCursor } = Object.getOwnPropertyDescriptors(
    WriteStream.prototype,
  );
  const terminal = Object.assign(new PassThrough(), { isTTY: true, columns });
  Object.defineProperties(terminal, { hasColors, getColorDepth, cursorTo, clearLine, moveCursor });
  vi.spyOn(process, 'stderr', 'get').mockReturnValue(terminal as never);
  await withProgress('Checking', () => Promise.resolve());
  const text = terminal.read() as Buffer | null;
  return text && String(text);
}

it.each([
  [undefined, true],
  ['1', false],
])('with NO_COLOR=%s: %s', async (NO_COLOR, isColoured) => {
  vi.stubEnv('TERM', 'xterm-256color');
  // Node takes the terminal of a CI system to have no colours.
  vi.stubEnv('CI', undefined);
  vi.stubEnv('FORCE_COLOR', undefined);
  vi.stubEnv('NO_COLOR', NO_COLOR);
  const frame = await shown();
  expect(frame).toContain('Checking');
  expect(frame?.includes('\u001b[36m')).toBe(isColoured);
});

it('a terminal without columns gets nothing, because the spinner would count infinitely many lines', async () => {
  expect(await shown({ columns: 0 })).toBeNull();
});

it('without a terminal, a line every fifteen seconds', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.spyOn(process, 'stderr', 'get').mockReturnValue(new PassThrough() as never);
  const told = vi.spyOn(console, 'error').mockReturnValue();
  await withProgress('Checking', (update) => {
    for (let second = 1; second <= 40; second += 1) {
      vi.setSystemTime(Date.now() + 1000);
      update(`${second} s`);
    }
    return Promise.resolve();
  });
  vi.useRealTimers();
  expect(told.mock.calls).toEqual([['15 s'], ['30 s']]);
});
