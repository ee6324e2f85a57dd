// API key pairs: the two algorithms, and the thumbprint that identifies the pair in every token (`kid`).
import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';

export const algorithms = ['ECDSA', 'RSA'] as const;
export type Algorithm = (typeof algorithms)[number];

/** The stored algorithm of the pair decides how a token is verified, never the header of the token. */
export const signingAlgorithm = { ECDSA: 'ES512', RSA: 'RS512' } as const;

/** RFC 7638: SHA-256 of the required members of the JWK, in this order and without white space. */
export function thumbprint(key: KeyObject): string {
  const { crv, e, kty, n, x, y } = key.export({ format: 'jwk' });
  const members = kty === 'RSA' ? { e, kty, n } : { crv, kty, x, y };
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url');
}

export function generateKeyPair(algorithm: Algorithm): { privateKey: KeyObject; publicKey: KeyObject } {
  return algorithm === 'ECDSA'
    ? generateKeyPairSync('ec', { namedCurve: 'P-521' })
    : generateKeyPairSync('rsa', { modulusLength: 3072 });
}

/** The algorithm that a key can be used with; undefined when it is not supported. */
export function algorithmOf(key: KeyObject): Algorithm | undefined {
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (namedCurve === 'secp521r1') return 'ECDSA';
  if (key.asymmetricKeyType === 'rsa' && modulusLength >= 2048) return 'RSA';
  return undefined;
}
