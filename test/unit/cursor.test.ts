// A cursor is accepted only unchanged, with the key, list, account and filters that it was issued for.
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { operations } from '../../generated/operations.ts';
import {
  createCursorCodec,
  cursorBinding as bind,
  givenCursor,
  justNewer,
  justOlder,
  type Cursor,
} from '../../server/kit/rules/cursor.ts';
import { uuidFilters } from '../../server/resources/transactions/metadata-filter.ts';
import { canonicalFilter } from '../../server/resources/transactions/metadata-filter.ts';
import { runs } from '../support/random.ts';
import { parametersOf, substance } from '../support/requests.ts';

const cursorBinding = (list: string, account: string, query: Readonly<Record<string, unknown>>) =>
  bind(list, account, query, canonicalFilter);

const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const cursor: fc.Arbitrary<Cursor> = fc.record({
  direction: fc.constantFrom('next', 'previous'),
  createdAt: fc.date({
    min: new Date('0000-01-01T00:00:00.000Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  }),
  // Any 16 bytes: the store uses version 4, but cursors do not depend on it.
  id: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) =>
    Buffer.from(bytes)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  ),
});
const boundTo = fc.string({ unit: 'binary', maxLength: 60 });

describe(`a cursor`, () => {
  it('is read back as it was issued, is safe in a URL and short', () => {
    fc.assert(
      fc.property(key, cursor, boundTo, (secret, issued, bound) => {
        const codec = createCursorCodec([secret]);
        const text = codec.encode(issued, bound);
        expect(text).toMatch(/^[A-Za-z0-9_-]{1,1000}$/);
        expect(codec.decode(text, bound)).toEqual(issued);
        // Another instance of the service has the same key.
        expect(createCursorCodec([Buffer.from(secret)]).decode(text, bound)).toEqual(issued);
      }),
    );
  });

  it('is refused for anything else than it was issued for, and under another key', () => {
    fc.assert(
      fc.property(key, key, cursor, boundTo, boundTo, (secret, otherSecret, issued, bound, other) => {
        fc.pre(!secret.equals(otherSecret) && bound !== other);
        const text = createCursorCodec([secret]).encode(issued, bound);
        expect(createCursorCodec([secret]).decode(text, other)).toBeUndefined();
        expect(createCursorCodec([otherSecret]).decode(text, bound)).toBeUndefined();
      }),
    );
  });

  it('of an older key is accepted while that is configured, and new ones are signed with the first key', () => {
    fc.assert(
      fc.property(key, key, cursor, boundTo, (older, newer, issued, bound) => {
        fc.pre(!older.equals(newer));
        const [before, during, after] = [[older], [newer, older], [newer]] as const;
        const old = createCursorCodec(before).encode(issued, bound);
        expect(createCursorCodec(during).decode(old, bound)).toEqual(issued);
        expect(createCursorCodec(during).decode(old, `${bound}x`)).toBeUndefined();
        expect(createCursorCodec(after).decode(old, bound)).toBeUndefined();
        const fresh = createCursorCodec(during).encode(issued, bound);
        expect(createCursorCodec(after).decode(fresh, bound)).toEqual(issued);
        expect(createCursorCodec([older, newer]).decode(fresh, bound)).toEqual(issued);
        expect(createCursorCodec(before).decode(fresh, bound)).toBeUndefined();
      }),
    );
  });

  it('of any of several older keys is accepted', () => {
    const keys = [1, 2, 3, 4].map((byte) => Buffer.alloc(32, byte)) as [Buffer, ...Buffer[]];
    const codec = createCursorCodec(keys);
    const [issued] = fc.sample(cursor, 1) as [Cursor];
    for (const one of keys)
      expect(codec.decode(createCursorCodec([one]).encode(issued, 'list'), 'list')).toEqual(issued);
  });

  it('is refused with any one character changed, by any other', () => {
    const alphabet = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).concat('é', '🦄');
    const codec = createCursorCodec([Buffer.alloc(32, 7)]);
    fc.assert(
      fc.property(cursor, fc.constantFrom(...alphabet), (issued, character) => {
        const text = codec.encode(issued, 'list');
        for (let at = 0; at < text.length; at += 1) {
          if (text[at] === character) continue;
          expect(codec.decode(text.slice(0, at) + character + text.slice(at + 1), 'list')).toBeUndefined();
        }
      }),
      { numRuns: runs(60) },
    );
  });

  it('is refused when truncated, extended, doubled, encoded differently or reversed', () => {
    const codec = createCursorCodec([Buffer.alloc(32, 7)]);
    fc.assert(
      fc.property(cursor, fc.string({ minLength: 1, maxLength: 20 }), (issued, more) => {
        const text = codec.encode(issued, 'list');
        const bytes = Buffer.from(text, 'base64url');
        const wrong = [
          ...Array.from({ length: text.length }, (_, length) => text.slice(0, length)),
          ...Array.from({ length: text.length }, (_, from) => text.slice(from + 1)),
          ...[text + more, more + text, text + text, `${text}=`, `${text}==`, ` ${text}`, `${text}\n`],
          Buffer.from(bytes).reverse().toString('base64url'),
          bytes.toString('hex'),
        ];
        expect(wrong.filter((one) => one !== text && codec.decode(one, 'list') !== undefined)).toEqual([]);
        // Standard base64 is another encoding, where it differs.
        const standard = bytes.toString('base64');
        if (standard !== text) expect(codec.decode(standard, 'list')).toBeUndefined();
      }),
      { numRuns: runs(40) },
    );
  });

  it('of another version is refused, even if it is signed with the key', () => {
    const key_ = Buffer.alloc(32, 7);
    const codec = createCursorCodec([key_]);
    const issued: Cursor = {
      direction: 'next',
      createdAt: new Date(0),
      id: '00000000-0000-0000-0000-000000000041',
    };
    for (const version of [0, 1, 2]) {
      const body = Buffer.from(codec.encode(issued, 'list'), 'base64url').subarray(0, 26);
      body[0] = version;
      const mac = createHmac('sha256', key_).update(body).update('list').digest();
      const text = Buffer.concat([body, mac]).toString('base64url');
      expect(codec.decode(text, 'list')).toEqual(version === 1 ? issued : undefined);
    }
  });

  it.each([
    ['', undefined],
    ['null', undefined],
    [null, undefined],
    [undefined, undefined],
    ['AAAA', 'AAAA'],
  ])('%j in a request is %j', (text, given) => {
    expect(givenCursor(text)).toBe(given);
  });
});

describe('the neighbours of a position', () => {
  it.each([
    ['00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000001', 0],
    ['00000000-0000-0000-00ff-ffffffffffff', '00000000-0000-0000-0100-000000000000', 0],
    ['ffffffff-ffff-ffff-ffff-ffffffffffff', '00000000-0000-0000-0000-000000000000', 1],
  ])('%s and %s', (older, newer, milliseconds) => {
    const [one, other] = [
      { createdAt: new Date(5), id: older },
      { createdAt: new Date(5 + milliseconds), id: newer },
    ];
    expect(justNewer(one)).toEqual(other);
    expect(justOlder(other)).toEqual(one);
  });
});

describe(`the binding of a cursor`, () => {
  // All kinds of separators, to find parts that are joined ambiguously.
  const piece = fc.string({
    unit: fc.constantFrom('a', 'b', ',', '"', '[', ']', ':', '\\', '=', '&', '|', '\u0000'),
    maxLength: 5,
  });
  const name = fc.constantFrom('status', 'currency', 'metadata', 'search', 'amount_eq', 'has_refunds');
  const value = fc.oneof(
    piece,
    fc.array(piece, { minLength: 1, maxLength: 3 }),
    fc.integer({ min: 0, max: 3 }),
    fc.boolean(),
  );
  const filters = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true });
  type Filters = Record<string, unknown>;

  /** A second implementation: equal results mean that two requests are for the same list. */
  const same = (a: [string, string, Filters], b: [string, string, Filters]) => {
    const canonical = (given: Filters) =>
      Object.entries(given)
        .sort(([one], [other]) => one.localeCompare(other))
        .map(([key_, held]) => [
          key_,
          Array.isArray(held) && key_ !== 'metadata' ? [...new Set(held)].sort() : held,
        ]);
    try {
      expect([a[0], a[1], canonical(a[2])]).toStrictEqual([b[0], b[1], canonical(b[2])]);
      return true;
    } catch {
      return false;
    }
  };

  it('changes with each single filter, and with list and account', () => {
    fc.assert(
      fc.property(filters, name, value, (given, changed, to) => {
        const before = cursorBinding('list', 'account', given);
        expect(cursorBinding('list2', 'account', given)).not.toBe(before);
        expect(cursorBinding('list', 'account2', given)).not.toBe(before);
        const after = { ...given, [changed]: to };
        expect(cursorBinding('list', 'account', after) === before).toBe(
          same(['', '', given], ['', '', after]),
        );
      }),
    );
  });

  it('does not depend on limit and cursor, on undefined filters, or on the order of filters and values', () => {
    fc.assert(
      fc.property(filters, fc.integer(), piece, (given, limit, text) => {
        const bound = cursorBinding('list', 'account', given);
        expect(cursorBinding('list', 'account', { limit, ...given, cursor: text, id: undefined })).toBe(
          bound,
        );
        const turned = Object.fromEntries(
          Object.entries(given)
            .reverse()
            .map(([key_, held]) => [
              key_,
              Array.isArray(held) && key_ !== 'metadata' ? held.toReversed() : held,
            ]),
        );
        expect(cursorBinding('list', 'account', turned)).toBe(bound);
      }),
    );
  });

  it('depends on the order of metadata, where the last value of a key wins', () => {
    const bound = (...metadata: string[]) => cursorBinding('list', 'account', { metadata });
    expect(bound('{"a":"1"}', '{"a":"2"}')).not.toBe(bound('{"a":"2"}', '{"a":"1"}'));
  });

  const id = '0d7d7ca2-3a5c-4a43-8a06-6cb1c1d0b7f5';
  it.each<[string, unknown, unknown]>([
    ['created_at_gte', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
    ['created_at_gte', '2026-01-01T00:00:00Z', '2026-01-01t01:00:00.0000+01:00'],
    ['created_at_gte', '2026-01-01T00:00:00.0001Z', '2026-01-01T00:00:00.001Z'],
    ['updated_at_lte', '2026-01-01T00:00:00.0009Z', '2026-01-01T00:00:00Z'],
    ['status', ['a', 'b'], ['b', 'a', 'b']],
    ['id', id, id.toUpperCase()],
    ['buyer_id', id, id.toUpperCase()],
    ['payment_service_id', [id], [id.toUpperCase(), id]],
    ['metadata', ['{"a":"1","b":"2"}'], ['{ "b": "2" }', '{"\\u0061":"1"}']],
    ['metadata', ['{"a":"2"}'], ['{"a":"1"}', '{"a":"2"}']],
    ['metadata', ['{"__proto__":"1","1":"2"}'], ['{"1":"2","__proto__":"1"}']],
    ['metadata', ['{"a,b":"c","a":"b,c"}'], ['{"a":"b,c","a,b":"c"}']],
  ])('of %s %j is that of %j', (name_, one, other) => {
    const bound = (held: unknown) => cursorBinding('list', 'account', { [name_]: held });
    expect(bound(one)).toBe(bound(other));
  });

  it.each<[string, unknown, unknown]>([
    ['created_at_gte', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.001Z'],
    ['created_at_gte', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00+01:00'],
    ['search', id, id.toUpperCase()],
    ['external_identifier', 'a', 'A'],
    ['payment_service_transaction_id', id, id.toUpperCase()],
    ['buyer_id', 'x', 'X'],
    ['metadata', ['{"a":"1"}'], ['{"A":"1"}']],
    ['metadata', ['{"a":"b,c"}'], ['{"a":"b","c":""}']],
  ])('of %s %j is not that of %j', (name_, one, other) => {
    const bound = (held: unknown) => cursorBinding('list', 'account', { [name_]: held });
    expect(bound(one)).not.toBe(bound(other));
  });

  it('knows every filter of the contract that is a UUID or a time', () => {
    const filters_ = Object.values(operations).flatMap(({ id: operation }) => parametersOf(operation));
    const ofFormat = (format: string) =>
      filters_
        .filter(({ schema }) => {
          const { schema: one } = substance(schema);
          return (substance(one.items ?? one).schema as { format?: string }).format === format;
        })
        .map(({ name: filter }) => filter);
    // `buyer_id` is a plain string in the contract, and compared as a UUID.
    expect(new Set([...ofFormat('uuid'), 'buyer_id'])).toEqual(uuidFilters);
    expect(ofFormat('date-time').filter((filter) => !/_at_(gte|lte)$/.test(filter))).toEqual([]);
    expect(ofFormat('date-time').length).toBeGreaterThan(3);
  });
});
