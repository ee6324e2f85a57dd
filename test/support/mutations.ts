/** Ways to break a request at one place, each with the violation that must be reported: the oracle of violations and parity tests. */
import fc from 'fast-check';
import type { OperationId } from '../../generated/operations.ts';
import type { Schema } from '../../server/kit/contract/load.ts';
import {
  bodySchemaOf,
  memoize,
  parametersOf,
  schemaOf,
  substance,
  valid,
  type Json,
  type Sent,
  type TextSchema,
} from './requests.ts';

export interface Mutation {
  /** For failure messages. */
  what: string;
  /** Places that no other mutation may touch, nor anything below them. */
  claims: string[];
  /** `location pointer` of what must be reported. */
  expects: string;
  apply: (sent: Sent) => void;
}

const short = (value: Json) => JSON.stringify(value).slice(0, 40);

const escape = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Undeclared names. */
export const oddNames = [
  ...['unicorn', 'a/b~c', '~', '/', '~1', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '🦄'],
  ...[' ', '', 'limit ', 'Limit', 'items[0]', 'status[]', 'number.', '0', '-', 'länge', '%2F', 'null'],
  'x'.repeat(1_000),
];

export const mutationsOf = (sent: Sent): Mutation[] => [
  ...queryMutations(sent.id),
  ...(sent.body === undefined ? [] : bodyMutations(bodySchemaOf(sent.id), sent.body, [])),
];

/** The mutations that do not overlap with earlier ones. */
export function compatible(mutations: Mutation[]): Mutation[] {
  const taken: string[] = [];
  const within = (inner: string, outer: string) => inner === outer || inner.startsWith(`${outer}/`);
  return mutations.filter(({ claims }) => {
    const free = !claims.some((claim) => taken.some((one) => within(one, claim) || within(claim, one)));
    if (free) taken.push(...claims);
    return free;
  });
}

type Path = (string | number)[];

const pointer = (path: Path) => path.map((part) => `/${escape(String(part))}`).join('');

function bodyMutations(given: unknown, value: Json, path: Path): Mutation[] {
  const { schema, nullable } = substance(given);
  const at = (what: string, edit: (sent: Sent) => void, expected = path, ...more: string[]): Mutation => ({
    what: `${what} at ${pointer(path)}`,
    claims: [`body${pointer(expected)}`, ...more],
    expects: `body ${pointer(expected)}`,
    apply: edit,
  });
  const put = (what: string, made: Json) =>
    at(what, (sent) => {
      write(sent, path, made);
    });
  if (value === null) return [];
  if (Array.isArray(schema.oneOf)) return entryMutations(schema.oneOf as Schema[], value, path);
  const wrong = [1, 1.5, true, 'x', {}, [], ...(nullable ? [] : [null])] as Json[];
  const mistypes = wrong
    .filter((one) => typeName(one) !== schema.type)
    .map((one) => put(`wrong type ${short(one)}`, one));
  if (typeof value === 'string')
    return [...mistypes, ...badTexts(schema).map((text) => put(`bad text ${short(text)}`, text))];
  if (Array.isArray(value)) {
    const full = Array.from({ length: Number(schema.maxItems) + 1 }, () => value[0] ?? null);
    return [
      ...mistypes,
      put('no items', []),
      put('an item too many', full),
      ...value.flatMap((item, index) => bodyMutations(schema.items, item, [...path, index])),
    ];
  }
  if (typeof value !== 'object') return mistypes;
  const exclusive = ((schema.not as Schema | undefined)?.required ?? []) as string[];
  const properties = schema.properties as Record<string, Schema>;
  return [
    ...mistypes,
    ...((schema.required ?? []) as string[]).map((name) => ({
      ...at(
        `without ${name}`,
        (sent) => {
          remove(sent, [...path, name]);
        },
        [...path, name],
      ),
    })),
    ...oddNames.map((name) =>
      at(
        `unknown property ${short(name)}`,
        (sent) => {
          write(sent, [...path, name], 1);
        },
        [...path, name],
      ),
    ),
    ...(exclusive.length === 0
      ? []
      : [
          at(
            'two that exclude each other',
            (sent) => {
              write(sent, [...path, 'buyer_id'], 'fe26475d-ec3e-4884-9553-f7356683f7f9');
              write(sent, [...path, 'buyer_external_identifier'], 'buyer-412');
            },
            [...path, 'buyer_id'],
            `body${pointer([...path, 'buyer_external_identifier'])}`,
          ),
        ]),
    ...Object.entries(value).flatMap(([name, part]) =>
      bodyMutations(properties[name], part, [...path, name]),
    ),
  ];
}

// An item with a oneOf. A second change to its properties could change which branch is the best match, so these mutations
// exclude each other.
function entryMutations(branches: Schema[], value: Json, path: Path): Mutation[] {
  const [own, other] = branches
    .map(schemaOf)
    .sort((a, b) => known(b, value) - known(a, value))
    .map((branch) => branch as Schema & { properties: Record<string, Schema>; required: string[] });
  if (!own || !other) return [];
  const shape = `body${pointer(path)}/#shape`;
  const foreign = Object.keys(other.properties).filter((name) => !(name in own.properties));
  const inside = bodyMutations(own, value, path).map((mutation) =>
    mutation.what.startsWith('without') ? { ...mutation, claims: [...mutation.claims, shape] } : mutation,
  );
  return [
    ...inside,
    ...foreign.map((name) => ({
      what: `${name}, which belongs to the other kind, at ${pointer(path)}`,
      claims: [`body${pointer([...path, name])}`, shape],
      expects: `body ${pointer([...path, name])}`,
      apply: (sent: Sent) => {
        write(sent, [...path, name], '9999000050001234');
      },
    })),
  ];
}

const known = ({ properties }: Schema, value: Json) =>
  Object.keys(value ?? {}).filter((name) => Object.hasOwn(properties as object, name)).length;

function typeName(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value;
}

function badTexts(schema: Schema): string[] {
  const { minLength, maxLength, pattern, format } = schema as TextSchema;
  return [
    ...(minLength === undefined ? [] : ['🦄'.repeat(minLength - 1)]),
    ...(maxLength === undefined ? [] : ['1'.repeat(maxLength + 1)]),
    ...(pattern === undefined ? [] : ['\u0000', 'a\u0000b']),
    ...(schema.enum === undefined && schema.const === undefined ? [] : ['unicorn', 'Card', 'card ', 'BASIC']),
    ...(format === 'uuid'
      ? [
          ...['unicorn', '', 'urn:uuid:fe26475d-ec3e-4884-9553-f7356683f7f9', `{${'0'.repeat(32)}}`],
          ...['fe26475dec3e48849553f7356683f7f9', 'fe26475d-ec3e-4884-9553-f7356683f7f9 '],
        ]
      : []),
    ...(format === 'uri'
      ? [
          ...['ftp://shop.example/', 'shop.example', 'https://shop.example/a b', 'https://<x>/', 'https://'],
          ...['https://a:b/', 'http://?x', 'https://a:99999/', 'https://u:p@shop.example/'],
        ]
      : []),
    ...(format === 'date-time' ? badTimes : []),
  ];
}

const badTimes = [
  ...['2026-19-01T00:00:00Z', '2026-02-30T00:00:00Z', '2026-01-01', '2026-01-01T00:00:00', '1767225600'],
  ...['2025-02-29T00:00:00Z', '20260101T000000Z', '+002026-01-01T00:00:00Z', '2026-01-01T00:00:00+0100'],
  ...[
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:00:00+01',
    '2026-01-01 00:00:00Z',
    '2016-12-31T23:59:60Z',
    'now',
  ],
];

const queryMutations = memoize((id: OperationId): Mutation[] => {
  const parameters = parametersOf(id);
  const make = (name: string, what: string, expected: string, values: string[]): Mutation => ({
    what: `${what} in ${name}`,
    claims: [`query/${escape(name)}`],
    expects: `query ${expected}`,
    apply: (target) => {
      const others = target.query.filter(([other]) => other !== name);
      target.query = [...others, ...values.map((value): [string, string] => [name, value])];
    },
  });
  return [
    ...[...oddNames, 'curency', 'limit[a]', 'cursor[]']
      .filter((name) => !parameters.some((parameter) => parameter.name === name))
      .map((name) => make(name, 'unknown parameter', `/${escape(name)}`, ['1'])),
    ...parameters.flatMap(({ name, schema: given }) => {
      const { schema } = substance(given);
      if (schema.type !== 'array')
        return [
          make(name, 'twice', `/${name}`, ['1', '1']),
          ...badValues(schema).map((value) => make(name, short(value), `/${name}`, [value])),
        ];
      const good = goodItem(schema.items);
      const many = Array.from({ length: Number(schema.maxItems) + 1 }, () => good);
      return [
        make(name, 'too many', `/${name}`, many),
        ...badValues(schemaOf(schema.items)).flatMap((value) => [
          make(name, `a bad item ${short(value)}`, `/${name}/0`, [value]),
          make(name, `a bad second item ${short(value)}`, `/${name}/1`, [good, value, good]),
        ]),
      ];
    }),
  ];
});

const acceptsEmpty = (schema: Schema) =>
  ['minLength', 'pattern', 'format', 'enum'].every((keyword) => !(keyword in schema));

function badValues(schema: Schema): string[] {
  if (schema.type === 'boolean') return ['', 'yes', '1', 'TRUE', 'null', ' true'];
  if (schema.type !== 'integer')
    return [
      ...new Set([
        ...(acceptsEmpty(schema) ? [] : ['']),
        ...badTexts(schema),
        ...(schema.pattern === '^[A-Z]{3}$' ? ['usd', 'EURO'] : []),
      ]),
    ];
  const { minimum, maximum } = schema as { minimum: number; maximum: number };
  return [
    ...[
      '',
      'ten',
      '1.5',
      '0x10',
      '1e3',
      ' 10',
      '10 ',
      '+5',
      '1,000',
      'null',
      'true',
      'Infinity',
      'NaN',
      '--1',
    ],
    ...['[1]', String(minimum - 1), String(BigInt(maximum) + 1n), '9'.repeat(20), '9'.repeat(400)],
    `-${'9'.repeat(400)}`,
  ];
}

const goodItem = memoize((items: unknown): string => {
  const item = schemaOf(items);
  if (Array.isArray(item.enum)) return String(item.enum[0]);
  if (item.format === 'uuid') return 'fe26475d-ec3e-4884-9553-f7356683f7f9';
  // Any text but one that a pattern describes; for `metadata` it must be JSON.
  const { pattern = '^[^' } = item as TextSchema;
  const [sample] = pattern.startsWith('^[^') ? [] : fc.sample(valid(item), { seed: 1, numRuns: 1 });
  return typeof sample === 'string' ? sample : '{}';
});

function parentOf(sent: Sent, path: Path): Record<string | number, Json> {
  let value = sent.body as Record<string | number, Json>;
  for (const part of path.slice(0, -1)) value = value[part] as Record<string | number, Json>;
  return value;
}

function write(sent: Sent, path: Path, value: Json): void {
  const last = path.at(-1);
  if (last === undefined) sent.body = value;
  // Not by assignment, so that `__proto__` becomes a property.
  else
    Object.defineProperty(parentOf(sent, path), last, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
}

function remove(sent: Sent, path: Path): void {
  Reflect.deleteProperty(parentOf(sent, path), path.at(-1) ?? '');
}

export function mutate(sent: Sent, mutations: Mutation[]): Sent {
  const copy: Sent = { ...sent, query: [...sent.query], body: structuredClone(sent.body) };
  for (const { apply } of mutations) apply(copy);
  return copy;
}
