// The JSON reader: agrees with JSON.parse, except where JSON.parse is wrong or keeps quiet. See docs/decisions/0012-json.md.
import { isDeepStrictEqual as isSame } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AmbiguousJson, parseJson, parseStrictJson } from '../../client/json.ts';

const escaped = (text: string) =>
  Array.from(
    { length: text.length },
    (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');

/** Every way to write a string in JSON: each character as it is, or as one of its escapes. */
const spelled = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      ...Array.from(text, (character) =>
        fc.constantFrom(
          JSON.stringify(character).slice(1, -1),
          character === '/' ? '\\/' : escaped(character),
          escaped(character).replace(/[a-f]/g, (digit) => digit.toUpperCase()),
        ),
      ),
    )
    .map((parts) => `"${parts.join('')}"`);

const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\t', '\r'), maxLength: 2 });
const word = fc.string({
  unit: fc.constantFrom('a', 'b', '\\', '"', '\n', '/', '~', '😀', '{', ':', ',', '}', '\u0000', 'é'),
  maxLength: 3,
});
const key = fc.oneof(word, fc.constantFrom('__proto__', 'constructor', '0', '10', ''));
const number = fc.constantFrom('0', '-0', '1e3', '-1.5E-7', '12345678901234567890', '1e999', '0.1');

interface Written {
  text: string;
  /** What the text says. */
  value: unknown;
  hasDuplicate: boolean;
}

/** Valid JSON in any spelling, its value, and whether some object in it has a key twice. */
const json: fc.Arbitrary<Written> = fc.letrec<{ value: Written }>((tie) => {
  const scalar = fc
    .oneof(
      number.map((text) => [text, Number(text)] as const),
      fc.constantFrom(true, false, null).map((value) => [String(value), value] as const),
      word.chain((value) => fc.tuple(spelled(value), fc.constant(value))),
    )
    .map(([text, value]): Written => ({ text, value, hasDuplicate: false }));
  const list = fc.tuple(fc.array(tie('value'), { maxLength: 4 }), space).map(([items, gap]): Written => ({
    text: `[${gap}${items.map(({ text }) => text).join(`${gap},${gap}`)}${gap}]`,
    value: items.map(({ value }) => value),
    hasDuplicate: items.some(({ hasDuplicate }) => hasDuplicate),
  }));
  const entry = key.chain((name) => fc.tuple(fc.constant(name), spelled(name), tie('value')));
  const object = fc.tuple(fc.array(entry, { maxLength: 4 }), space).map(([entries, gap]): Written => ({
    text: `${gap}{${gap}${entries.map(([, name, { text }]) => `${name}${gap}:${gap}${text}`).join(`${gap},${gap}`)}${gap}}`,
    value: Object.fromEntries(entries.map(([name, , { value }]) => [name, value])),
    hasDuplicate:
      new Set(entries.map(([name]) => name)).size < entries.length ||
      entries.some(([, , { hasDuplicate }]) => hasDuplicate),
  }));
  return { value: fc.oneof({ maxDepth: 4 }, scalar, list, object) };
}).value;

const outcome = (read: () => unknown): unknown => {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof AmbiguousJson) return error.fault;
    return error instanceof SyntaxError ? 'invalid' : error;
  }
};

// On Node 24 and 26 the texts below poison the cache of JSON.parse, which then cannot judge the reader.
const isSound = Number(process.versions.node.split('.')[0]) < 24;

describe(`reading JSON`, () => {
  it('agrees with JSON.parse on all valid JSON, and refuses exactly what has a key twice', () => {
    fc.assert(
      fc.property(json, ({ text, value, hasDuplicate }) => {
        // Not toStrictEqual, which takes a key named `constructor` for the constructor.
        expect(isSame(parseJson(text), value)).toBe(true);
        // The order of keys.
        expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(value));
        if (isSound) expect(isSame(parseJson(text), JSON.parse(text))).toBe(true);
        const wanted = hasDuplicate ? 'duplicate key' : { value };
        expect(
          isSame(
            outcome(() => parseStrictJson(text)),
            wanted,
          ),
        ).toBe(true);
      }),
    );
  });

  it('refuses what JSON.parse refuses', () => {
    const broken = json.chain(({ text }) =>
      fc
        .tuple(
          fc.nat(text.length),
          fc.nat(2),
          fc.constantFrom('', '"', '\\', '{', ']', ',', ':', '0', '\u0001', 'x'),
        )
        .map(([at, length, put]) => text.slice(0, at) + put + text.slice(at + length)),
    );
    fc.assert(
      fc.property(broken, (text) => {
        const isValid = outcome(() => JSON.parse(text)) !== 'invalid';
        expect(outcome(() => parseJson(text)) !== 'invalid').toBe(isValid);
        expect(outcome(() => parseStrictJson(text)) !== 'invalid').toBe(isValid);
      }),
    );
  });

  it.each([
    ['{"a":1,"a":1}', '/a'],
    ['{"number":1,"\\u006eumber":2}', '/number'],
    ['{"items":[{},{"a":{"b":1,"c":[],"b":2}}]}', '/items/1/a/b'],
    ['[[1,2,{"a/b~":1,"a\\/b~":2}]]', '/0/2/a~1b~0'],
    ['{"__proto__":1,"__proto__":2}', '/__proto__'],
    ['{"\\ud83d\\ude00":1,"😀":2}', '/😀'],
  ])('names the key that %s has twice', (text, pointer) => {
    expect(() => parseStrictJson(text)).toThrow(expect.objectContaining({ fault: 'duplicate key', pointer }));
  });

  it.each(['{"a":1,"b":{"a":1}}', '[{"a":1},{"a":1}]', '{"a":"a","b":"a"}', '{"a":["a","a"]}'])(
    'knows that %s has no key twice',
    (text) => {
      expect(parseStrictJson(text)).toEqual(JSON.parse(text));
    },
  );

  it('refuses lone surrogates, and only these', () => {
    const part = fc.constantFrom('\ud800', '\udbff', '\udc00', '\udfff', '\\', '"', 'u', 'd800', '😀', 'é');
    const text = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.boolean(), (odd, isKey) => {
        const quoted = `"${odd.replace(/[\ud800-\udfff\\"]/g, escaped)}"`;
        const whole = isKey ? `{${quoted}:1}` : `[${quoted}]`;
        const isLone = /\p{Surrogate}/u.test(odd);
        expect(outcome(() => parseStrictJson(whole)) === 'lone surrogate').toBe(isLone);
      }),
      { examples: [['\ud800\\\udc00', false]] },
    );
  });

  it('points at a lone surrogate in a key with valid text', () => {
    const refused = () => parseStrictJson('{"a":{"\\ud800":1}}');
    expect(refused).toThrow(expect.objectContaining({ pointer: '/a/\ufffd' }) as Error);
  });

  it.each([
    ['[', ']'],
    ['{"\\n":', '}'],
    ['[{"a":', '}]'],
  ])('100 kB of %s nested do not overflow the stack', (start, end) => {
    const depth = Math.floor(100_000 / (start.length + end.length));
    const text = `${start.repeat(depth)}1${end.repeat(depth)}`;
    let value: unknown = parseStrictJson(text);
    let found = 0;
    for (; typeof value === 'object' && value !== null; found += 1) value = Object.values(value)[0];
    expect(found).toBe(start.startsWith('[{') ? depth * 2 : depth);
  });
});
