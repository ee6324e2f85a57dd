// Verifies and signs access tokens. The caller looks up the public key.
import { createHash, randomUUID, type KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { checkClaims, InvalidToken, type Claims } from './claims.ts';
import { signingAlgorithm, thumbprint, algorithmOf, type Algorithm } from './rules.ts';

export function verifyToken(
  token: string,
  pair: { publicKey: KeyObject; algorithm: Algorithm },
  now: Date,
): Claims {
  let payload: Record<string, unknown>;
  try {
    const verified = jwt.verify(token, pair.publicKey, {
      algorithms: [signingAlgorithm[pair.algorithm]],
      // checkClaims does both, also for the mock.
      ignoreExpiration: true,
      ignoreNotBefore: true,
    });
    if (typeof verified === 'string') throw new InvalidToken('the payload is not an object');
    payload = verified;
  } catch (error) {
    if (error instanceof InvalidToken) throw error;
    // Errors of the JSON parser quote the payload, and reasons are logged.
    throw new InvalidToken(
      error instanceof jwt.JsonWebTokenError ? error.message : 'the payload is not JSON',
    );
  }
  return checkClaims(payload, now);
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
