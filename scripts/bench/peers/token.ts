// Verifies a bearer token, at each request or once per token.
import { createPublicKey } from 'node:crypto';
import jwt from 'jsonwebtoken';

/** Throws if the token is not valid. */
export function createTokenCheck(publicKey: string, { cache }: { cache: boolean }) {
  const key = createPublicKey(publicKey);
  const validUntil = new Map<string, number>();
  return (authorization = ''): void => {
    const token = authorization.slice('Bearer '.length);
    if ((validUntil.get(token) ?? 0) > Date.now()) return;
    const claims = jwt.verify(token, key, { algorithms: ['ES512'] }) as jwt.JwtPayload;
    if (cache) validUntil.set(token, (claims.exp ?? 0) * 1000);
  };
}
