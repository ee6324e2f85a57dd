// Small rules of the domain: UUIDs, sizes of requests, names of card schemes, metadata filters.
import { describe, expect, it, vi } from 'vitest';
import { longestToken } from '../../server/kit/access/claims.ts';
import { name, time } from '../../server/kit/cli/values.ts';
import { loadContract } from '../../server/kit/contract/load.ts';
import { mostPieces } from '../../server/kit/http/connections.ts';
import { limits } from '../../server/kit/http/listen.ts';
import { describeDifference } from '../../server/kit/maintenance/clock.ts';
import { isUuid, readUuid } from '../../server/kit/rules/values.ts';
import { schemeNames } from '../../server/resources/card-schemes/rules.ts';
import { readMetadataFilter } from '../../server/resources/transactions/metadata-filter.ts';

const uuid = 'fe26475d-ec3e-4884-9553-f7356683f7f9';

describe('UUIDs', () => {
  it('are read in upper and lower case, and stored in lower case', () => {
    expect(isUuid(uuid)).toBe(true);
    expect(readUuid(uuid)).toBe(uuid);
    expect(readUuid(uuid.toUpperCase())).toBe(uuid);
  });

  it.each([
    ...['', `urn:uuid:${uuid}`, `{${uuid}}`, `${uuid} `, ` ${uuid}`, `${uuid}\n`, `x${uuid}`, `${uuid}0`],
    ...[uuid.replaceAll('-', ''), uuid.slice(1), uuid.slice(0, -1), uuid.replace('f', 'g')],
    ...['fe26475d-ec3e-4884-f7356683f7f9', 'fe26475d-ec3e-4884-9553-4884-f7356683f7f9'],
    ...['fe26475d-ec3-4884-9553-f7356683f7f9', 'fe26475d_ec3e_4884_9553_f7356683f7f9'],
  ])('%j is none', (text) => {
    expect(isUuid(text)).toBe(false);
    expect(readUuid(text)).toBeUndefined();
  });
});

it('headers with the URL may have 64 kB, a request 200 headers, its body 2,000 pieces, and a token 8 kB', () => {
  expect([limits.headerBytes, limits.headers, mostPieces, longestToken]).toEqual([65_536, 200, 2_000, 8_192]);
});

it('card schemes are named as in the example of the contract', () => {
  const { CardSchemeDefinitionsAll: example } = loadContract().document.components.examples as Record<
    string,
    { value: { items: { id: string; display_name: string }[] } }
  >;
  const names = example?.value.items.map(({ id, display_name }) => [id, display_name] as const) ?? [];
  expect(Object.fromEntries(names)).toEqual(schemeNames);
  expect(names).toHaveLength(24);
});

describe('the metadata filter', () => {
  it('merges objects in order; the last value of a key wins', () => {
    const { required, faults } = readMetadataFilter(['{"a":"1","b":"2"}', '{}', '{"__proto__":"x","a":"3"}']);
    expect([...required]).toEqual([
      ['a', '3'],
      ['b', '2'],
      ['__proto__', 'x'],
    ]);
    expect(faults).toEqual([]);
  });

  it.each(['', '{', 'null', '7', '"a"', '["a"]', '[]', '{"a":1}', '{"a":"1","b":null}', '{"a":{}}'])(
    '%j is refused, and the others are still read',
    (text) => {
      const { required, faults } = readMetadataFilter(['{"a":"1"}', text]);
      expect([...required]).toEqual([['a', '1']]);
      expect(faults).toEqual([
        {
          loc: ['query', 'metadata', 1],
          msg: 'must be a JSON object whose values are strings, URL-encoded',
          type: 'value_error.metadata',
        },
      ]);
    },
  );

  it('has at most 20 keys in all objects together', () => {
    const keys = (from: number, to: number) =>
      JSON.stringify(
        Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`key${from + n}`, 'x'])),
      );
    expect(readMetadataFilter([keys(0, 15), keys(5, 20)]).faults).toEqual([]);
    expect(readMetadataFilter([keys(0, 15), keys(5, 21)]).faults).toEqual([
      { loc: ['query', 'metadata'], msg: 'must have at most 20 keys in all', type: 'value_error.metadata' },
    ]);
  });
});

it.each([
  [30, undefined],
  [-30, undefined],
  [31, 'the clock of this machine is 31 s ahead of that of the database'],
  [-345_600, 'the clock of this machine is 345600 s behind that of the database'],
])('a clock that is %s s ahead of the database: %s', (seconds, expected) => {
  expect(describeDifference(seconds)?.replace(/:.*/, '')).toBe(expected);
});

describe('a time of the command line', () => {
  it.each([
    ['2026-11-15', '2026-11-15T00:00:00.000Z'],
    ['2026-11-15T13:30', '2026-11-15T13:30:00.000Z'],
    ['2026-11-15T13:30:15.25', '2026-11-15T13:30:15.250Z'],
    ['2026-11-15T13:30:00Z', '2026-11-15T13:30:00.000Z'],
    ['2026-11-15T13:30:00+02:00', '2026-11-15T11:30:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ])('%s is %s, also where the zone is another one', (text, expected) => {
    vi.stubEnv('TZ', 'America/New_York');
    expect(time(text).toISOString()).toBe(expected);
    vi.unstubAllEnvs();
  });

  it.each([
    '2026-02-30',
    '2026-02-29T10:00Z',
    '2026-13-01',
    '2026-11-15T25:00',
    '2026-11-15 10:00',
    'then',
    '',
  ])('%j is refused', (text) => {
    expect(() => time(text)).toThrow('Give a time such as');
  });
});

describe('a name of the command line', () => {
  it('has up to 200 characters, counted as the API does: an emoji is one', () => {
    expect(name('🦄'.repeat(200))).toBe('🦄'.repeat(200));
    expect(() => name('🦄'.repeat(201))).toThrow('Give 1 to 200 characters.');
  });
});
