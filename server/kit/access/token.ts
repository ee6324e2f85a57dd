// API key pairs and the access tokens that they sign: the two algorithms, and the thumbprint that identifies the pair in every
// token (`kid`). The caller looks up the public key.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomUUID,
  type KeyObject,
} from 'node:crypto';
import jwt from 'jsonwebtoken';
import { InvalidToken, readClaims, signingAlgorithm, type Claims } from './claims.ts';

export const algorithms = ['ECDSA', 'RSA'] as const;
export type Algorithm = (typeof algorithms)[number];

/** RFC 7638: SHA-256 of the required members of the JWK, in this order and without white space. */
export function thumbprint(key: KeyObject): string {
  const { crv, e, kty, n, x, y } = key.export({ format: 'jwk' });
  const members = kty === 'RSA' ? { e, kty, n } : { crv, kty, x, y };
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url');
}

/**
 * Read from its text: a process of Node 20 may hang for ever while it exports a key that it has just generated. The export holds a lock
 * of the key, and the garbage collector, if it runs meanwhile, waits for that lock to delete what generated the key.
 */
export function generateKeyPair(algorithm: Algorithm): { privateKey: KeyObject; publicKey: KeyObject } {
  const privateKeyEncoding = { type: 'pkcs8', format: 'pem' } as const;
  const publicKeyEncoding = { type: 'spki', format: 'pem' } as const;
  const text =
    algorithm === 'ECDSA'
      ? generateKeyPairSync('ec', { namedCurve: 'P-521', privateKeyEncoding, publicKeyEncoding })
      : generateKeyPairSync('rsa', { modulusLength: 3072, privateKeyEncoding, publicKeyEncoding });
  const privateKey = createPrivateKey(text.privateKey);
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

export function algorithmOf(key: KeyObject): Algorithm | undefined {
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (namedCurve === 'secp521r1') return 'ECDSA';
  if (key.asymmetricKeyType === 'rsa' && modulusLength >= 2048) return 'RSA';
  return undefined;
}

export function verifyToken(
  token: string,
  pair: { publicKey: KeyObject; algorithm: Algorithm },
  now: Date,
): Claims {
  try {
    jwt.verify(token, pair.publicKey, {
      algorithms: [signingAlgorithm[pair.algorithm]],
      // checkClaims does both, also for the mock.
      ignoreExpiration: true,
      ignoreNotBefore: true,
    });
  } catch (error) {
    // Errors of the JSON parser quote the payload, and reasons are logged.
    throw new InvalidToken(
      error instanceof jwt.JsonWebTokenError ? error.message : 'the payload is not JSON',
    );
  }
  return readClaims(token, now);
}

/** Identifies a token. Without the signature, because there are several valid ECDSA signatures of the same content. */
export const tokenDigest = (token: string): string =>
  createHash('sha256')
    .update(token.slice(0, token.lastIndexOf('.')))
    .digest('base64url');

export function signToken(privateKey: KeyObject, scopes: string[], ttlSeconds: number): string {
  const algorithm = algorithmOf(privateKey);
  if (!algorithm) throw new Error('The key is neither ECDSA on P-521 nor RSA of 2048 bits or more.');
  return jwt.sign({ scopes }, privateKey, {
    // Tokens signed in the same second must differ, because the rate limit counts the calls of each token.
    jwtid: randomUUID(),
    algorithm: signingAlgorithm[algorithm],
    keyid: thumbprint(privateKey),
    expiresIn: ttlSeconds,
  });
}
