// A merchant account has a random key of its own, from which one key per purpose is derived: no digest can be compared with one
// of another account or purpose. It never changes, so digests stay comparable. See docs/decisions/0014-bound-values.md.
import { createHmac, hkdfSync } from 'node:crypto';

export interface DigestKeys {
  fingerprints: Buffer;
  idempotency: Buffer;
  velocity: Buffer;
}

export function deriveKeys(secret: Buffer): DigestKeys {
  const derive = (purpose: keyof DigestKeys) => Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
  return {
    fingerprints: derive('fingerprints'),
    idempotency: derive('idempotency'),
    velocity: derive('velocity'),
  };
}

/** Tells whether two cards of an account are the same. Keyed, so that it cannot be reversed by trying all card numbers. */
export const fingerprintOf = ({ fingerprints }: DigestKeys, number: string): string =>
  createHmac('sha256', fingerprints).update(number).digest('hex');
