// A merchant account has a random key of its own, from which one key per purpose is derived: no digest can be compared with one
// of another account or purpose. It never changes, so digests stay comparable. See docs/decisions/0014-bound-values.md.
import { hkdfSync } from 'node:crypto';

/** The key for a purpose, such as `idempotency`. A digest depends on the name of its purpose, so that never changes. */
export type DigestKeys = (purpose: string) => Buffer;

export function deriveKeys(secret: Buffer): DigestKeys {
  const known = new Map<string, Buffer>();
  return (purpose) => {
    const key = known.get(purpose) ?? Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
    known.set(purpose, key);
    return key;
  };
}
