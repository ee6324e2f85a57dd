// What makes two requests with one Idempotency-Key the same, and which answers are given again.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestFingerprint, slotOf as slotWith } from '../../server/kit/idempotency/rules.ts';
import { deriveKeys } from '../../server/kit/secrets/derive-keys.ts';

const [keys, others] = [deriveKeys(Buffer.alloc(32, 1)), deriveKeys(Buffer.alloc(32, 2))];
const slotOf = (by: Parameters<typeof slotWith>[1], key: string) => slotWith(keys, by, key);
const fingerprintOf = (given: Parameters<typeof requestFingerprint>[1]) => requestFingerprint(keys, given);
const owner = { keyPairId: 'pair', account: 'default' };
const request = { method: 'post', path: '/payment-methods', query: {}, body: { number: '1', list: [1, 2] } };

// While instances are replaced, old and new ones must agree on what is the same request.
it('digests stay as they are', () => {
  const body = { b: [1, null], a: { d: 'x', c: true } };
  expect(slotOf(owner, 'key')).toBe('9qQPBM91Kt1XcTmCDoPhGlkNNzznJ-0WLvJ0cdwbYtI');
  expect(fingerprintOf({ ...request, body })).toBe('OKZ2K1eRvgq9JrQFfrtLilZBO0lS8jez-2PS_5DmeC4');
});

describe('a slot', () => {
  it('belongs to one key of one pair in one account', () => {
    const slots = [
      slotOf(owner, 'key'),
      slotOf(owner, 'key2'),
      slotOf({ ...owner, keyPairId: 'pair2' }, 'key'),
      slotOf({ ...owner, account: 'default2' }, 'key'),
      // The parts are not simply joined.
      slotOf({ keyPairId: 'pair","default', account: 'x' }, 'key'),
      slotOf({ keyPairId: 'pairdefault', account: '' }, 'key'),
      slotWith(others, owner, 'key'),
    ];
    expect(new Set(slots).size).toBe(slots.length);
    expect(slotOf({ ...owner }, 'key')).toBe(slots[0]);
    for (const slot of slots) expect(slot).toMatch(/^[\w-]{43}$/);
  });
});

describe(`the fingerprint of a request`, () => {
  it('depends on method, path, query and body, and on the secret', () => {
    const fingerprints = [
      request,
      { ...request, method: 'put' },
      { ...request, path: '/webhook-subscriptions' },
      { ...request, query: { a: '1' } },
      { ...request, body: undefined },
      { ...request, body: { number: '1' } },
      { ...request, body: { number: 1, list: [1, 2] } },
      { ...request, body: { number: '1', list: [2, 1] } },
      { ...request, body: { number: '1', list: [12] } },
      { ...request, body: { number: '1', list: ['1,2'] } },
      { ...request, body: { number: '1', list: { 0: 1, 1: 2 } } },
      { ...request, body: [request.body] },
    ].map(fingerprintOf);
    expect(new Set(fingerprints).size).toBe(fingerprints.length);
    expect(requestFingerprint(others, request)).not.toBe(fingerprints[0]);
  });

  it('is never that of a slot', () => {
    const same = { method: 'pair', path: 'default', query: 'key', body: undefined };
    expect(fingerprintOf(same)).not.toBe(slotOf(owner, 'key'));
  });

  it('is equal exactly when the values are, whatever the order of properties', () => {
    const key = fc.constantFrom('a', 'b', 'c', '"', ',', ':', '__proto__');
    const leaf = fc.constantFrom<unknown>(
      null,
      0,
      1,
      true,
      false,
      '',
      'a',
      '0',
      '[]',
      '{}',
      'null',
      '"',
      ',',
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 2 },
        leaf,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
      ),
    }));
    const withoutNull = (given: unknown): unknown => {
      if (Array.isArray(given)) return given.map(withoutNull);
      if (typeof given !== 'object' || given === null) return given;
      return Object.fromEntries(
        Object.entries(given).flatMap(([name, member]) =>
          member === null ? [] : [[name, withoutNull(member)]],
        ),
      );
    };
    const isEqual = (a: unknown, b: unknown) => {
      try {
        expect(withoutNull(a)).toEqual(withoutNull(b));
        return true;
      } catch {
        return false;
      }
    };
    const reversed = (given: unknown): unknown => {
      if (Array.isArray(given)) return given.map(reversed);
      if (typeof given !== 'object' || given === null) return given;
      return Object.fromEntries(
        Object.entries(given)
          .reverse()
          .map(([name, member]) => [name, reversed(member)]),
      );
    };
    const of = (body: unknown) => fingerprintOf({ ...request, body });
    fc.assert(
      fc.property(value, value, (one, other) => {
        expect(of(one)).toBe(of(reversed(one)));
        expect(of(one) === of(other)).toBe(isEqual(one, other));
      }),
    );
  });

  it('does not depend on the security code, which must not be kept in any form', () => {
    const code = (security_code?: string) =>
      fingerprintOf({ ...request, body: { ...request.body, security_code, inner: { security_code } } });
    expect(code('123')).toBe(code('999'));
    expect(code('123')).toBe(code(undefined));
  });
});
