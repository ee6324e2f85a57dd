// What is cut off a hostile body never changes the verdict: it is invalid before and after.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Document, Schema } from '../../server/kit/contract/load.ts';
import { boundFaults, dropUnknown, mostFaults } from '../../server/kit/contract/violations.ts';

const document = {
  components: {
    schemas: {
      Pair: {
        properties: { a: {}, list: { $ref: '#/components/schemas/List' } },
        additionalProperties: false,
      },
      List: { items: { $ref: '#/components/schemas/Pair' }, maxItems: 3 },
    },
  },
} as unknown as Document;
const many = (count: number, prefix = 'x') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, index]));

function bound(schema: Schema, value: unknown): unknown {
  const copy = structuredClone(value);
  boundFaults(document, schema, copy);
  return copy;
}

const list = (length: number) => Array.from({ length }, (_, index) => index);

describe('a list', () => {
  it.each([
    ['keeps one item more than allowed', { maxItems: 3 }, 9, 4],
    ['that is as long as allowed is kept', { maxItems: 3 }, 3, 3],
    ['that has one item too many is kept', { maxItems: 3 }, 4, 4],
    ['that is shorter is kept', { maxItems: 3 }, 2, 2],
    ['without a limit is kept', {}, 9, 9],
    ['follows the larger of two limits', { oneOf: [{ maxItems: 3 }, { maxItems: 5 }] }, 9, 6],
    ['whose limit is in allOf', { allOf: [{ maxItems: 2 }] }, 9, 3],
    ['whose limit is in anyOf', { anyOf: [{ type: 'null' }, { maxItems: 2 }] }, 9, 3],
    ['whose limit is behind a reference', { oneOf: [{ $ref: '#/components/schemas/List' }] }, 9, 4],
    ['that may be empty only', { maxItems: 0 }, 9, 1],
  ])('%s', (_name, schema, length, kept) => {
    expect(bound(schema, list(length))).toEqual(list(kept));
  });

  it('is cut at every depth, in objects and in lists', () => {
    const schema = { $ref: '#/components/schemas/List' };
    const deep = [{ list: [...list(9), { list: list(9) }] }, { list: [{ list: list(9) }] }];
    expect(bound(schema, deep)).toEqual([{ list: list(4) }, { list: [{ list: list(4) }] }]);
  });
});

describe('an object', () => {
  const closed = { properties: { a: {}, b: {} }, additionalProperties: false };

  it.each([
    ['keeps its own properties and a hundred unknown ones', closed, mostFaults],
    ['closed by unevaluatedProperties', { properties: {}, unevaluatedProperties: false }, mostFaults],
    ['closed in a branch', { oneOf: [{ type: 'null' }, closed] }, mostFaults],
    ['that is open keeps all', { properties: { a: {} } }, 150],
    ['with a schema for other properties keeps all', { additionalProperties: { type: 'string' } }, 150],
    ['without a schema keeps all', {}, 150],
  ])('%s', (_name, schema, kept) => {
    const value = bound(schema, { ...many(150), a: 1 }) as Record<string, unknown>;
    const known = 'a' in value ? 1 : 0;
    expect(Object.keys(value).length - known).toBe(kept);
    if (schema === closed) expect(value.a).toBe(1);
  });

  it('knows the properties of all branches', () => {
    const schema = { oneOf: [closed, { properties: { c: {} }, additionalProperties: false }] };
    expect(bound(schema, { ...many(150), a: 1, c: 3 })).toEqual({ ...many(100), a: 1, c: 3 });
  });

  it('is cut inside of its properties', () => {
    const inner = { properties: { a: closed, constructor: closed } };
    expect(bound(inner, { a: many(150) })).toEqual({ a: many(100) });
  });

  it('keeps the first of the unknown names', () => {
    const value: Record<string, unknown> = { ...many(mostFaults), known: 1, late: 2, later: 3 };
    dropUnknown(value, new Set(['known']));
    expect(value).toEqual({ ...many(mostFaults), known: 1 });
  });
});

it('a value within the limits is never changed', () => {
  const schema = { $ref: '#/components/schemas/Pair' };
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.record(
      { a: fc.jsonValue(), list: fc.array(tie('value'), { maxLength: 3 }) },
      { requiredKeys: [], noNullPrototype: true },
    ),
  }));
  fc.assert(
    fc.property(value, (sent) => {
      expect(bound(schema, sent)).toEqual(sent);
    }),
  );
});
