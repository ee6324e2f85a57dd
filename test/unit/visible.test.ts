// What others stored is shown to operators: it must not move their cursor, colour, hide or reorder anything.
import { Writable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { printJson, printRows } from '../../server/kit/cli/output.ts';
import { createLog } from '../../server/kit/log/log.ts';
import { visible, visibleLines } from '../../server/kit/log/visible.ts';

/** Everything that a terminal or a reader could be misled by, but for a line feed. */
const unsafe =
  // oxlint-disable-next-line no-control-regex -- these are what the test is about
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0001}-\u{e007f}]/u;

const hostile = [
  '\u001b[2J\u001b]0;owned\u0007',
  '\u009b31m',
  'a\rb',
  'a\nadministrator  ECDSA  true',
  'a\tb\b\u007f',
  '\u202egnp.exe\u202c',
  '\u2066x\u2069\u200f\u200e\u061c',
  'a\u2028b\u2029c',
  '\ufeffa\u200bb\u2060c\u00ad',
  '\u{e0041}\u{e007f}',
];

afterEach(() => vi.restoreAllMocks());

const printed = (print: () => void): string[] => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  print();
  return log.mock.calls.map(([line]) => String(line));
};

describe('text', () => {
  it.each([
    ['\u001b[2J', '\\u001b[2J'],
    ['a\nb\rc\td', 'a\\nb\\rc\\td'],
    ['\u0000\u007f\u009b', '\\u0000\\u007f\\u009b'],
    ['\u202eevil', '\\u202eevil'],
    ['\u{e0041}', '\\udb40\\udc41'],
    ['\ud800', '\\ud800'],
    ['José 日本 🎉 \\n "x"', 'José 日本 🎉 \\n "x"'],
    // Persian needs this joiner, and so do families of emoji.
    ['می\u200cخواهم 👩\u200d👧', 'می\u200cخواهم 👩\u200d👧'],
  ])('%j is shown as %j', (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('of several lines keeps them', () => {
    expect(visibleLines('one\n  two\u001b[1m\n')).toBe('one\n  two\\u001b[1m\n');
  });
});

describe('tables', () => {
  it.each(hostile)('show %j in one line, and the columns after it in place', (name) => {
    const rows = [
      { id: '1', name, list: [name], more: { name }, last: 'x' },
      { id: '2', name: 'plain', list: [], more: null, last: 'x' },
    ];
    const lines = printed(() => {
      printRows(rows, {}, 'none');
    });
    expect(lines).toHaveLength(3);
    expect(lines.join('\n')).not.toMatch(unsafe);
    expect(lines.join('').includes('\n')).toBe(false);
    expect(lines[1]?.lastIndexOf('x')).toBe(lines[2]?.lastIndexOf('x'));
  });
});

describe('JSON', () => {
  it.each(hostile)('of %j is the same JSON without raw control characters', (name) => {
    const [text = ''] = printed(() => {
      printJson([{ name, [name]: 1 }]);
    });
    expect(text).not.toMatch(unsafe);
    expect(JSON.parse(text)).toEqual([{ name, [name]: 1 }]);
  });
});

describe('the log', () => {
  it.each(hostile)('of %j is the same JSON without raw control characters', (name) => {
    const lines: string[] = [];
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines.push(chunk.toString());
        done();
      },
    });
    createLog('info', stream).info({ name }, 'said');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.trimEnd()).not.toMatch(unsafe);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ name, msg: 'said' });
  });
});
