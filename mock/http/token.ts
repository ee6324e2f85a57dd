// The bearer token: read, never verified. Any opaque text passes; a JWT must have the scopes that the operation names, so
// that a page which asks its server for too little finds out here.
import { isAllowed, isScope } from '../../server/domain/scopes.ts';
import { ApiError } from '../../server/errors.ts';
import type { Step } from './context.ts';

// No key pair, no roles: whoever calls may do all that the scopes say, in every account.
const everything = ['*.read', '*.write'];

export const token: Step = (visit, req) => {
  const { operation } = visit;
  const given = /^Bearer ([^\s]+)$/i.exec(req.headers.authorization ?? '')?.[1];
  if (given === undefined) throw new ApiError('unauthorized', { reason: 'no bearer token' });
  visit.caller = { merchantAccountIds: [] };
  const claims = claimsOf(given);
  if (!claims) return;
  const { scopes } = claims;
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string' && isScope(scope)))
    throw new ApiError('unauthorized', { reason: 'the token is a JWT whose scopes are missing or malformed' });
  if (!isAllowed(operation.scopes, scopes as string[], everything))
    throw new ApiError('forbidden', {
      reason: `the token is a JWT, and none of its scopes reaches ${operation.scopes.join(' or ')}`,
    });
};

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
