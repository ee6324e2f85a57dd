// The query parser reads every well-formed query as the standard (URLSearchParams) does, and refuses every other one.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseQuery } from '../../server/kit/contract/url.ts';

const piece = fc.constantFrom(
  ...[
    'a',
    'b',
    '=',
    '&',
    '+',
    '?',
    '#',
    '/',
    '~',
    '%',
    '%4',
    '%41',
    '%zz',
    '%C3%A9',
    '%FF',
    '%ED%A0%80',
    '%00',
  ],
  ...['%F0%9F%98%80', '__proto__', '%EF%BB%BF', '%2B', '%26'],
);

const read = (text: string) => {
  const values = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of new URLSearchParams(text)) {
    const earlier = values[name];
    values[name] = earlier === undefined ? value : [earlier, value].flat();
  }
  return values;
};

const isWellFormed = (text: string) => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

it(`reads queries as URLSearchParams does, without what is malformed`, () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      // A leading `?` is part of the first name here, and URLSearchParams would remove it.
      const text = pieces.join('').replace(/^\?/, '');
      const { values, faults } = parseQuery(`/list?${text}`);
      const parts = text.split('&');
      expect(values).toEqual(read(parts.filter(isWellFormed).join('&').replace(/^\?/, '%3F')));
      expect(faults.length > 0).toBe(!parts.every(isWellFormed));
    }),
  );
});
