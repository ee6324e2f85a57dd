import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deriveKeys } from '../../server/kit/secrets/derive-keys.ts';
import { fingerprintOf } from '../../server/resources/payment-methods/rules.ts';

/** RFC 5869, written down again: one block, without a salt. */
function hkdf(secret: Buffer, label: string): string {
  const extracted = createHmac('sha256', Buffer.alloc(32)).update(secret).digest();
  return createHmac('sha256', extracted).update(`${label}\u0001`).digest('hex');
}

// Stored digests must stay comparable.
it('keys are derived by HKDF, one for each purpose', () => {
  const secret = Buffer.alloc(32, 1);
  const keys = deriveKeys(secret);
  for (const purpose of ['fingerprints', 'idempotency', 'velocity', 'idempotency'])
    expect(keys(purpose).toString('hex')).toBe(hkdf(secret, purpose));
});

it('fingerprints are equal for the same card of an account, and for nothing else', () => {
  const secret = () => fc.uint8Array({ minLength: 32, maxLength: 32 });
  const card = () => fc.stringMatching(/^[0-9]{13,19}$/);
  const make = (key: Uint8Array, number: string) => fingerprintOf(deriveKeys(Buffer.from(key)), number);
  fc.assert(
    fc.property(secret(), card(), secret(), card(), (one, first, two, second) => {
      expect(make(one, first)).toMatch(/^[0-9a-f]{64}$/);
      expect(make(one, first)).toBe(make(one, first));
      const isSame = Buffer.from(one).equals(two) && first === second;
      expect(make(one, first) === make(two, second)).toBe(isSame);
      expect(make(one, first)).not.toBe(make(two, first === second ? `${second}0` : second));
    }),
  );
});
