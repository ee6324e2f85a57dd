// What a provider was given is masked in whatever it says, however it is spelled there.
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { cleanError } from '../../server/providers/call.ts';
import { createMask } from '../../server/providers/mask.ts';
import { cpuMilliseconds } from '../support/cpu.ts';

const number = '4929123456789012';

describe('a value', () => {
  it.each([
    [number, `card ${number}.`, 'card [redacted].'],
    [number, '4929 1234 5678 9012', '[redacted]'],
    [number, '4929-1234_5678\n9012', '[redacted]'],
    [number, '4929%201234%205678%209012', '[redacted]'],
    [number, '4929+1234+5678+9012', '[redacted]'],
    [number, '4929\\n1234\\\\n5678\\u00209012', '[redacted]'],
    [number, 'pan%3D4929123456789012%26', 'pan%3D[redacted]%26'],
    [number, '%34%39%32%39123456789012', '[redacted]'],
    [number, 'x49291234567890123', 'x[redacted]3'],
    [number, `${number}${number}`, '[redacted][redacted]'],
    [number, '４９２９１２３４５６７８９０１２', '[redacted]'],
    [number, '4929 1234 5678 9013', '4929 1234 5678 9013'],
    ['123', 'cvc=123, cvc: 1 2 3', 'cvc=[redacted], cvc: [redacted]'],
    ['123', 'cvc4123', 'cvc4[redacted]'],
    ['a"b & é', '{"pin":"a\\"b & é"}', '{"pin":"[redacted]"}'],
    ['a"b & é', '{"pin":"a\\"b & \\u00e9"}', '{"pin":"[redacted]"}'],
    ['a"b & é', 'pin=a%22b+%26+%C3%A9&x=1', 'pin=[redacted]&x=1'],
    ['a"b & é', 'pin=a%22b%20%26%20%c3%a9&x=1', 'pin=[redacted]&x=1'],
    ['Secret', 'SECRET secret', '[redacted] [redacted]'],
    ['new1', 'path\\new1', 'path\\[redacted]'],
    // Longer than the letters, so a separator is part of the value.
    ['1-', 'PIN 1- is wrong, not 1', 'PIN [redacted] is wrong, not 1'],
    ['%4', 'pin=%254', 'pin=[redacted]'],
    ['----', 'pin ---- and ---', 'pin [redacted] and ---'],
    ['😀😀', 'pin 😀😀!', 'pin [redacted]!'],
    // Every text has them, so only where they are a word.
    ['1', 'E1, PIN 1: 2100', 'E1, PIN [redacted]: 2100'],
    ['', 'text', 'text'],
  ])('%j in %j', (value, text, expected) => {
    expect(createMask([value])(text)).toBe(expected);
  });

  it('of three characters or more is never left in any usual spelling', () => {
    const spellings = [
      (value: string) => value,
      (value: string) => JSON.stringify(value),
      (value: string) => JSON.stringify(JSON.stringify(value)),
      (value: string) => encodeURIComponent(value),
      (value: string) => new URLSearchParams({ value }).toString(),
      (value: string) =>
        value.replaceAll(/./gsu, (one) =>
          [...Buffer.from(one)].map((byte) => `%${byte.toString(16)}`).join(''),
        ),
      (value: string) => value.split('').join(' '),
    ];
    const word = fc.stringMatching(/^[0-9A-Za-zé]{3,12}$/);
    const value = fc
      .tuple(word, fc.string({ unit: fc.constantFrom(' ', '"', '&', '\\', '-', '+') }), word)
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(value, fc.constantFrom(...spellings), (secret, spell) => {
        const masked = createMask([secret])(`before: ${spell(secret)}, after`);
        expect(masked).toMatch(/^before: .*\[redacted\].*, after$/s);
        for (const part of secret.match(/[0-9A-Za-z]{3,}/g) ?? []) expect(masked).not.toContain(part);
      }),
    );
  });

  it.each(['1', '1 ', '%31', '\\u0031', '\\', '-', '😀'])(
    'costs little CPU to look for in 20 kB of %j',
    (piece) => {
      const values = ['1'.repeat(19), '1'.repeat(200), '-'.repeat(200), '1- '.repeat(60)];
      const text = piece.repeat(20_000 / piece.length);
      expect(cpuMilliseconds(() => createMask(values)(text))).toBeLessThan(500);
    },
  );
});

describe('an error', () => {
  it('of megabytes is cut, also in the middle of a value', () => {
    const error = new Error(`${'x'.repeat(990)}${number}${'y'.repeat(5_000_000)}`);
    const { message, stack = '' } = cleanError(error, [number]);
    expect([message, stack.length]).toEqual([`${'x'.repeat(990)}[redacted]`, 10_000]);
    expect(cpuMilliseconds(() => cleanError(error, [number]))).toBeLessThan(500);
  });

  it.each([
    `card ${number} is unknown to us`,
    `{"code": 14, "card": x${number}, "text": "is unknown to us"}`,
  ])('of JSON.parse has no piece of the answer %j', (answer) => {
    const parsed = vi.fn(() => JSON.parse(answer) as unknown);
    expect(parsed).toThrow(/"[^]*"\.\.\. is not valid JSON/);
    const { message, stack } = cleanError(parsed.mock.results[0]?.value, [number]);
    expect(message).toMatch(/^Unexpected token '.' is not valid JSON$/);
    expect(`${message}${stack}`).not.toContain('4929');
  });

  it('names each cause once', () => {
    const last = new Error('refused');
    const cause = new Error('socket: refused', { cause: last });
    const { message, stack = '' } = cleanError(new Error('fetch failed', { cause }), []);
    expect(message).toBe('fetch failed: socket: refused');
    expect(stack.match(/^caused by: /gm)).toHaveLength(2);
  });

  it('keeps nothing else', () => {
    const error = Object.assign(new TypeError('no'), { config: { number }, code: number });
    expect(Object.keys(cleanError(error, [number])).filter((key) => key !== 'name')).toEqual([]);
    expect(cleanError(error, [number]).cause).toBeUndefined();
  });
});
