// What a caller is told about each kind of violation. test/contract/violations.test.ts checks the same on the contract, with
// generated requests; here the schemas are small, and every keyword and every choice between branches has its row.
import { describe, expect, it } from 'vitest';
import { createAjv } from '../../server/kit/contract/ajv.ts';
import type { Document, Schema } from '../../server/kit/contract/load.ts';
import { translate } from '../../server/kit/contract/violations.ts';
import type { Detail } from '../../server/kit/errors.ts';

const card = {
  type: 'object',
  required: ['number', 'pin'],
  properties: { number: { type: 'string' }, pin: { type: 'string', minLength: 1 } },
  additionalProperties: false,
};
const stored = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string' } },
  additionalProperties: false,
};
const document = {
  openapi: '3.1.0',
  components: {
    schemas: {
      Card: card,
      Stored: stored,
      Either: { oneOf: [{ $ref: '#/components/schemas/Card' }, { $ref: '#/components/schemas/Stored' }] },
    },
  },
} as unknown as Document;
const ajv = createAjv(document, { verbose: true, strictTypes: false });

function details(schema: Schema, value: unknown, location: Detail['location'] = 'body'): Detail[] {
  const validate = ajv.compile(schema);
  expect(validate(value)).toBe(false);
  return translate(ajv, validate.errors ?? [], location);
}

const told = (schema: Schema, value: unknown, location?: Detail['location']) =>
  details(schema, value, location).map(({ pointer, message, type }) => `${pointer} ${message} | ${type}`);

const ref = (name: string) => ({ $ref: `contract#/components/schemas/${name}` });
const within = (schema: Schema) => ({ type: 'object', properties: { a: schema } });

describe('one violation', () => {
  it.each<[Schema, unknown, string]>([
    [{ required: ['a/b~c'] }, {}, '/a~1b~0c is required | value_error.missing'],
    [{ type: 'boolean' }, 1, '/a must be true or false | type_error.boolean'],
    [{ type: 'integer' }, 'x', '/a must be an integer | type_error.integer'],
    [{ type: 'object' }, 1, '/a must be an object | type_error.object'],
    [{ type: 'string' }, 1, '/a must be a string | type_error.string'],
    [{ type: ['string', 'null'] }, 1, '/a must be a string or null | type_error.string'],
    [{ type: ['null', 'boolean'] }, 1, '/a must be true or false or null | type_error.boolean'],
    [{ type: 'null' }, 1, '/a must be a value or null | type_error.value'],
    [{ enum: ['x', 'y'] }, 'z', '/a must be one of: x, y | value_error.enum'],
    [{ const: 'basic' }, 'z', '/a must be basic | value_error.const'],
    [{ minLength: 1 }, '', '/a must have 1 character or more | value_error.str.min_length'],
    [{ minLength: 2 }, '', '/a must have 2 characters or more | value_error.str.min_length'],
    [{ maxLength: 1 }, 'xy', '/a must have 1 character or less | value_error.str.max_length'],
    [{ maxLength: 2 }, 'xyz', '/a must have 2 characters or less | value_error.str.max_length'],
    [{ pattern: '^[0-9]$' }, 'x', '/a must match the pattern ^[0-9]$ | value_error.str.regex'],
    [
      { type: 'string', format: 'uri', pattern: '^https' },
      'http://shop.example/',
      '/a must be an http or https URL in ASCII, with a host and without a user name or password | value_error.url',
    ],
    [{ minimum: 1 }, 0, '/a must be 1 or more | value_error.number.not_ge'],
    [{ maximum: 5 }, 6, '/a must be 5 or less | value_error.number.not_le'],
    [{ minItems: 1 }, [], '/a must have 1 item or more | value_error.list.min_items'],
    [{ maxItems: 2 }, [1, 2, 3], '/a must have 2 items or less | value_error.list.max_items'],
    [{ format: 'uuid' }, 'x', '/a must be a UUID | value_error.uuid'],
    [
      { format: 'uri' },
      'x',
      '/a must be an http or https URL in ASCII, with a host and without a user name or password | value_error.url',
    ],
    [
      { format: 'date-time' },
      'x',
      '/a must be a date-time with its time zone, such as 2026-11-15T10:30:00Z | value_error.datetime',
    ],
    [{ format: 'int32' }, 2 ** 40, '/a must fit in int32 | value_error.number.size'],
    [{ format: 'json-pointer' }, 'x', '/a must be of the format json-pointer | value_error.json_pointer'],
    [
      { not: { required: ['x', 'y', 'z'] } },
      { x: 1, y: 2, z: 3 },
      '/x cannot be combined with y and z | value_error.exclusive',
    ],
    [{ not: { const: 1 } }, 1, '/a is not allowed here | value_error.not'],
    [
      { uniqueItems: true },
      [1, 1],
      '/a must NOT have duplicate items (items ## 0 and 1 are identical) | value_error.uniqueitems',
    ],
  ])('%j', (schema, value, expected) => {
    // At `/a`, except for the names of properties, which are below it.
    const nested = expected.startsWith('/a ') ? expected : `/a${expected}`;
    expect(told(within(schema), { a: value })).toEqual([nested]);
  });

  it('an unknown name is a property of a body, and a parameter of a query', () => {
    for (const keyword of ['additionalProperties', 'unevaluatedProperties']) {
      const schema = { type: 'object', properties: { a: {} }, [keyword]: false };
      expect(told(schema, { b: 1 })).toEqual(['/b is not a known property | value_error.extra']);
      expect(told(schema, { b: 1 }, 'query')).toEqual(['/b is not a known parameter | value_error.extra']);
    }
  });

  it('has the location that was given', () => {
    expect(details({ type: 'string' }, 1, 'header').map(({ location }) => location)).toEqual(['header']);
  });
});

describe('several violations', () => {
  it('of one kind at one place are told once', () => {
    const schema = {
      allOf: [
        { type: 'object', required: ['a'] },
        { type: 'object', required: ['a'] },
      ],
    };
    expect(told(schema, {})).toEqual(['/a is required | value_error.missing']);
  });

  it('of two kinds at one place, or of one kind at two places, are told', () => {
    expect(told({ allOf: [{ minLength: 3 }, { pattern: '^x$' }] }, 'y')).toHaveLength(2);
    expect(told({ items: { type: 'string' } }, [1, 2])).toEqual([
      '/0 must be a string | type_error.string',
      '/1 must be a string | type_error.string',
    ]);
  });

  it('name unknown properties last, because they are often misspellings of missing ones', () => {
    const schema = { allOf: [card, { properties: { x: { type: 'string' } } }] };
    expect(told(schema, { numbr: '1', pin: '', x: 1 }).map((line) => line.split(' ')[0])).toEqual([
      '/number',
      '/pin',
      '/x',
      '/numbr',
      '/x',
    ]);
  });

  it('say nothing of a `not` where the type is wrong', () => {
    const schema = { type: 'object', not: { not: { type: 'object' } } };
    expect(told(schema, 1)).toEqual([' must be an object | type_error.object']);
    expect(told({ not: { not: { type: 'object' } } }, 1)).toEqual([' is not allowed here | value_error.not']);
    const apart = within({ not: { const: 1 } });
    expect(told({ allOf: [apart, { required: ['b'] }] }, { a: 1 })).toEqual([
      '/a is not allowed here | value_error.not',
      '/b is required | value_error.missing',
    ]);
  });

  it('say nothing of the size of a number that is out of range', () => {
    const below = { type: 'integer', format: 'int32', minimum: 0 };
    expect(told(below, -(2 ** 40))).toEqual([' must be 0 or more | value_error.number.not_ge']);
    const above = { type: 'integer', format: 'int32', maximum: 9 };
    expect(told(above, 2 ** 40)).toEqual([' must be 9 or less | value_error.number.not_le']);
    // The range of one number says nothing about another, nor about the format of a text.
    const two = { properties: { a: { format: 'int32' }, b: { maximum: 9 } } };
    expect(told(two, { a: 2 ** 40, b: 10 })).toHaveLength(2);
    const text = { format: 'uuid' };
    expect(translate(ajv, [...errorsOf(text, 'x'), ...errorsOf({ maximum: 9 }, 10)], 'body')).toHaveLength(2);
  });
});

function errorsOf(schema: Schema, value: unknown) {
  const validate = ajv.compile(schema);
  validate(value);
  return [...(validate.errors ?? [])];
}

describe('items beyond the limit of a list', () => {
  const list = (items: Schema, maxItems = 2) => ({ type: 'object', properties: { a: { maxItems, items } } });

  it('are not told about: the caller has to remove them', () => {
    expect(told(list({ type: 'string' }), { a: [1, 2, 3, 4] })).toEqual([
      '/a must have 2 items or less | value_error.list.max_items',
      '/a/0 must be a string | type_error.string',
      '/a/1 must be a string | type_error.string',
    ]);
  });

  it('nor about what is inside of them', () => {
    const schema = list({ properties: { b: { type: 'string' } } });
    expect(told(schema, { a: [{ b: 1 }, {}, { b: 1 }] })).toEqual([
      '/a must have 2 items or less | value_error.list.max_items',
      '/a/0/b must be a string | type_error.string',
    ]);
  });

  it('also if the list is the whole value', () => {
    expect(told({ maxItems: 1, items: { type: 'string' } }, [1, 2, 3])).toEqual([
      ' must have 1 item or less | value_error.list.max_items',
      '/0 must be a string | type_error.string',
    ]);
  });

  it('do not hide violations of another list', () => {
    const schema = {
      properties: { a: { maxItems: 1, items: { type: 'string' } }, b: { items: { type: 'string' } } },
    };
    expect(told(schema, { a: ['x', 'y'], b: ['x', 'y', 3] })).toEqual([
      '/a must have 1 item or less | value_error.list.max_items',
      '/b/2 must be a string | type_error.string',
    ]);
  });
});

describe('a choice between branches', () => {
  const choice = (keyword: string) => ({ [keyword]: [ref('Card'), ref('Stored')] });
  const both = ['oneOf', 'anyOf'];

  it.each<[unknown, string[]]>([
    [{ pin: '1' }, ['/number is required | value_error.missing']],
    [{ id: 7 }, ['/id must be a string | type_error.string']],
    // Neither was meant more than the other: the one that needs less.
    [{}, ['/id is required | value_error.missing']],
    [
      { number: 7, pin: '', id: 'x' },
      [
        '/number must be a string | type_error.string',
        '/pin must have 1 character or more | value_error.str.min_length',
        '/id is not a known property | value_error.extra',
      ],
    ],
    [{ id: 'x', number: '1' }, ['/number is not a known property | value_error.extra']],
    [7, [' must be an object | type_error.object']],
    [null, [' must be an object | type_error.object']],
    [[], [' must be an object | type_error.object']],
  ])('%j is told about the branch that was meant', (value, expected) => {
    for (const keyword of both) expect(told(choice(keyword), value)).toEqual(expected);
    // The order of the branches does not matter.
    for (const keyword of both)
      if (typeof value === 'object' && value !== null && !Array.isArray(value))
        expect(told({ [keyword]: [ref('Stored'), ref('Card')] }, value)).toEqual(expected);
  });

  const nothing = { type: 'object', properties: { b: {} }, additionalProperties: false };
  const tooSmall = { minProperties: 2, allOf: [{ minProperties: 3 }], not: { maxProperties: 1 } };
  it.each<[string, Schema, Schema, unknown, string]>([
    [
      'whose names were sent, though their values have more faults',
      { properties: { a: { required: ['x', 'y'] } } },
      nothing,
      { a: {} },
      '/a/x',
    ],
    [
      'with fewer missing names, though it has more faults',
      { ...tooSmall },
      { required: ['x'] },
      { a: 1 },
      '',
    ],
    [
      'whose names were sent, though there are unknown names further inside',
      { properties: { a: nothing } },
      nothing,
      { a: { z: 1 } },
      '/a/z',
    ],
    [
      'whose names were sent, also if it is closed to what its parts do not name',
      { properties: { a: { required: ['x', 'y'] } } },
      { type: 'object', properties: { b: {} }, unevaluatedProperties: false },
      { a: {} },
      '/a/x',
    ],
    [
      'with fewer missing names, though more are missing further inside',
      { properties: { a: { required: ['x', 'y'] } } },
      { required: ['x'] },
      { a: {} },
      '/a/x',
    ],
  ])('is the one %s', (_name, meant, other, value, pointer) => {
    for (const keyword of both)
      for (const branches of [
        [meant, other],
        [other, meant],
      ])
        expect(details({ [keyword]: branches }, value)[0]?.pointer).toBe(pointer);
  });

  it('in the contract names its branches relative to the contract', () => {
    expect(told(ref('Either'), { id: 7 })).toEqual(['/id must be a string | type_error.string']);
  });

  it('is the one with fewer violations if nothing else tells them apart', () => {
    const text = { type: 'string', minLength: 3, pattern: '^x' };
    const shorter = { type: 'string', minLength: 2 };
    for (const keyword of both)
      for (const branches of [
        [text, shorter],
        [shorter, text],
      ])
        expect(told({ [keyword]: branches }, 'y')).toEqual([
          ' must have 2 characters or more | value_error.str.min_length',
        ]);
  });

  it('with null says that null is allowed, only of the value itself', () => {
    const nullable = { anyOf: [ref('Stored'), { type: 'null' }] };
    expect(told(within(nullable), { a: 5 })).toEqual(['/a must be an object or null | type_error.object']);
    expect(told(within(nullable), { a: { id: 5 } })).toEqual(['/a/id must be a string | type_error.string']);
    expect(told(within(nullable), { a: {} })).toEqual(['/a/id is required | value_error.missing']);
    expect(told({ anyOf: [{ type: ['string', 'null'] }, { type: 'null' }] }, 5)).toEqual([
      ' must be a string or null | type_error.string',
    ]);
    expect(told({ anyOf: [{ type: 'string' }] }, 5)).toEqual([' must be a string | type_error.string']);
  });

  it('inside of a list points at the item, and inside of a choice at the innermost value', () => {
    const items = { items: { oneOf: [ref('Card'), ref('Stored')] } };
    expect(told(items, [{ id: 'x' }, { id: 7 }, {}])).toEqual([
      '/1/id must be a string | type_error.string',
      '/2/id is required | value_error.missing',
    ]);
    const nested = { oneOf: [{ type: 'null' }, within({ anyOf: [ref('Card'), ref('Stored')] })] };
    expect(told(nested, { a: { id: 7 } })).toEqual(['/a/id must be a string | type_error.string']);
  });

  it('at one place inside of another is told once, from the outside', () => {
    const schema = { oneOf: [{ anyOf: [ref('Card'), { type: 'null' }] }, ref('Stored')] };
    expect(told(schema, { id: 7 })).toEqual(['/id must be a string | type_error.string']);
  });

  it('does not hide the keywords next to it', () => {
    const schema = { type: 'object', required: ['x'], oneOf: [ref('Card'), ref('Stored')] };
    expect(told(schema, { id: 7 })).toEqual([
      '/id must be a string | type_error.string',
      '/x is required | value_error.missing',
    ]);
  });
});
