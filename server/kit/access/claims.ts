// The format and the claims of access tokens: what can be checked without a key. The mock checks the same.
import { parseStrictJson } from '../../../client/json.ts';
import { isScope } from './roles/rules.ts';

export const longestToken = 8 * 1024;

export const longestLifetimeSeconds = 24 * 60 * 60;

/** How far the clocks of callers may be off. */
export const leewaySeconds = 60;

/** The stored algorithm of the pair decides how a token is verified, never the header of the token. */
export const signingAlgorithm = { ECDSA: 'ES512', RSA: 'RS512' } as const;

export class InvalidToken extends Error {}

export interface Claims {
  scopes: string[];
  /** Seconds since 1970. */
  exp: number;
}

/** Checks the format and returns the key ID. Nothing in the token is trusted before `verifyToken`. */
export function readKeyId(token: string): string {
  if (token.length > longestToken) throw new InvalidToken('too long');
  const parts = token.split('.');
  if (parts.length !== 3 || !parts.every(isCanonical))
    throw new InvalidToken('the token is not a JWT: not three canonical base64url parts');
  const header = parseObject(token.slice(0, token.indexOf('.')));
  // RFC 7515 compares media types without regard to case.
  if (typeof header.typ !== 'string' || header.typ.toUpperCase() !== 'JWT')
    throw new InvalidToken('typ is not JWT');
  // RFC 7515: tokens with unsupported critical extensions must be refused, and we support none.
  if ('crit' in header) throw new InvalidToken('critical extensions');
  if (typeof header.kid !== 'string' || !/^[\w-]{43}$/.test(header.kid))
    throw new InvalidToken('kid is not a thumbprint');
  return header.kid;
}

// base64url can encode the same bytes in several ways. Caches and rate limits would see these as different tokens.
const isCanonical = (part: string) =>
  part.length > 0 && Buffer.from(part, 'base64url').toString('base64url') === part;

export function parseObject(part: string): Record<string, unknown> {
  try {
    const value: unknown = parseStrictJson(Buffer.from(part, 'base64url').toString('utf8'));
    if (value !== null && typeof value === 'object' && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Refused below.
  }
  throw new InvalidToken('a part is not a JSON object');
}

/** Before `verifyToken` this tells only which tokens need no check of their signature, because they are refused anyway. */
export const readClaims = (token: string, now: Date): Claims =>
  checkClaims(parseObject(token.split('.', 2)[1] ?? ''), now);

export function checkClaims({ scopes, exp, nbf, iat }: Record<string, unknown>, now: Date): Claims {
  const seconds = Math.floor(now.getTime() / 1000);
  if (nbf !== undefined && typeof nbf !== 'number') throw new InvalidToken('invalid nbf value');
  if (nbf !== undefined && nbf > seconds + leewaySeconds) throw new InvalidToken('jwt not active');
  if (exp === undefined) throw new InvalidToken('no exp');
  if (typeof exp !== 'number') throw new InvalidToken('invalid exp value');
  if (seconds >= exp + leewaySeconds) throw new InvalidToken('jwt expired');
  if (iat !== undefined && (typeof iat !== 'number' || iat > seconds + leewaySeconds))
    throw new InvalidToken('iat is in the future');
  // An `iat` that hides a longer lifetime would be in the future.
  if (exp - (iat ?? seconds) > longestLifetimeSeconds)
    throw new InvalidToken('the lifetime is longer than 24 hours');
  if (
    !Array.isArray(scopes) ||
    !scopes.every((scope): scope is string => typeof scope === 'string' && isScope(scope))
  )
    throw new InvalidToken('scopes are missing or malformed');
  return { scopes, exp };
}
