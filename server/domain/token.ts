// Access tokens: how one is read, what makes it valid, what it says. No look-ups here; the pair's public key is handed in.
import { createHash, type KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { signingAlgorithm, thumbprint, algorithmOf, type Algorithm } from './key-pair.ts';
import { isScope } from './scopes.ts';

export const leewaySeconds = 60;
export const longestLifetimeSeconds = 24 * 60 * 60;
const longestToken = 8192;

export class InvalidToken extends Error {}

export interface Claims {
  scopes: string[];
  /** Seconds since 1970. */
  exp: number;
}

/** Checks the spelling and returns the key ID. Nothing of the token may be trusted before verifyToken. */
export function readKeyId(token: string): string {
  if (token.length > longestToken) throw new InvalidToken('too long');
  const parts = token.split('.');
  if (parts.length !== 3 || !parts.every(isCanonical))
    throw new InvalidToken('not three canonical base64url parts');
  const header = parseObject(parts[0] ?? '');
  if (header.typ !== undefined && !(typeof header.typ === 'string' && header.typ.toUpperCase() === 'JWT')) {
    throw new InvalidToken('another typ than JWT');
  }
  // RFC 7515: a token whose critical extensions are not understood must be refused, and we understand none.
  if ('crit' in header) throw new InvalidToken('critical extensions');
  if (typeof header.kid !== 'string' || !/^[\w-]{43}$/.test(header.kid))
    throw new InvalidToken('no thumbprint as kid');
  return header.kid;
}

// A second spelling of the same bytes would be a second token to caches and rate limits.
const isCanonical = (part: string) =>
  part.length > 0 && Buffer.from(part, 'base64url').toString('base64url') === part;

function parseObject(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    if (value !== null && typeof value === 'object' && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Falls through to the one refusal below.
  }
  throw new InvalidToken('a part is not a JSON object');
}

export function verifyToken(
  token: string,
  pair: { publicKey: KeyObject; algorithm: Algorithm },
  now: Date,
): Claims {
  const seconds = Math.floor(now.getTime() / 1000);
  let payload: Record<string, unknown>;
  try {
    const verified = jwt.verify(token, pair.publicKey, {
      algorithms: [signingAlgorithm[pair.algorithm]],
      clockTolerance: leewaySeconds,
      clockTimestamp: seconds,
    });
    if (typeof verified === 'string') throw new InvalidToken('the payload is no object');
    payload = verified;
  } catch (error) {
    throw new InvalidToken(error instanceof Error ? error.message : 'not verified');
  }
  const { scopes, exp, iat } = payload;
  if (typeof exp !== 'number') throw new InvalidToken('no exp');
  if (iat !== undefined && (typeof iat !== 'number' || iat > seconds + leewaySeconds))
    throw new InvalidToken('iat is in the future');
  // Both, because an old or a future iat would otherwise stretch or shrink the lifetime at will.
  if (
    exp - (iat ?? seconds) > longestLifetimeSeconds ||
    exp - seconds > longestLifetimeSeconds + leewaySeconds
  ) {
    throw new InvalidToken('lives longer than 24 hours');
  }
  if (
    !Array.isArray(scopes) ||
    !scopes.every((scope): scope is string => typeof scope === 'string' && isScope(scope))
  ) {
    throw new InvalidToken('scopes are missing or malformed');
  }
  return { scopes, exp };
}

/** Tells tokens apart by what is signed, because ECDSA signatures have second spellings. */
export const tokenDigest = (token: string): string =>
  createHash('sha256')
    .update(token.slice(0, token.lastIndexOf('.')))
    .digest('base64url');

export function signToken(privateKey: KeyObject, scopes: string[], ttlSeconds: number): string {
  const algorithm = algorithmOf(privateKey);
  if (!algorithm) throw new Error('The key is neither ECDSA on P-521 nor RSA of 2048 bits or more.');
  return jwt.sign({ scopes }, privateKey, {
    algorithm: signingAlgorithm[algorithm],
    keyid: thumbprint(privateKey),
    expiresIn: ttlSeconds,
  });
}
