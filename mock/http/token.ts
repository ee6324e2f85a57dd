// The bearer token: read, never verified. Any opaque text passes; a JWT must have the scopes that the operation names, so
// that a page which asks its server for too little finds out here.
import { ApiError } from '../../server/errors.ts';
import type { Step } from './visit.ts';

export const token: Step = ({ operation }, req) => {
  const given = /^Bearer ([^\s]+)$/i.exec(req.headers.authorization ?? '')?.[1];
  if (given === undefined) throw new ApiError(401, { reason: 'no bearer token' });
  const claims = claimsOf(given);
  if (!claims) return;
  const { scopes } = claims;
  if (!Array.isArray(scopes) || !scopes.every(isScope))
    throw new ApiError(401, { reason: 'the token is a JWT whose scopes are missing or malformed' });
  if (!reaches(scopes, operation.scopes))
    throw new ApiError(403, {
      reason: `the token is a JWT, and none of its scopes reaches ${operation.scopes.join(' or ')}`,
    });
};

export const isScope = (scope: unknown): scope is string =>
  typeof scope === 'string' &&
  (scope === 'embed' || /^(\*|[a-z0-9]+(-[a-z0-9]+)*)\.(read|write)$/.test(scope));

/** `*` stands for every resource; writing does not include reading. */
export const reaches = (scopes: readonly string[], alternatives: readonly string[]): boolean =>
  alternatives.some(
    (needed) => scopes.includes(needed) || scopes.includes(`*.${needed.split('.')[1] ?? ''}`),
  );

/** Undefined for what is no JWT. */
function claimsOf(text: string): Record<string, unknown> | undefined {
  const parts = text.split('.');
  if (parts.length !== 3) return undefined;
  const [header, claims] = parts.map(parse);
  return header && claims;
}

function parse(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
