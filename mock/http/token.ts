// The bearer token is read but never verified. Any opaque text is accepted. A JWT must have a scope of the operation and must
// not have expired, so that a frontend whose backend requests too few scopes, or that does not renew tokens, notices it here.
import { parseStrictJson } from '../../client/json.ts';
import { leewaySeconds } from '../../server/domain/leeway.ts';
import { isAllowed, isScope } from '../../server/domain/scopes.ts';
import { longestToken } from '../../server/domain/sizes.ts';
import { ApiError } from '../../server/errors.ts';
import { forbidden } from '../../server/http/permission.ts';
import type { Step } from './context.ts';

// The mock has no key pairs and no roles, so nothing restricts the scopes of a token.
const unrestricted = ['*.read', '*.write'];

export const createToken =
  (now: () => Date): Step =>
  (context, req) => {
    const { operation } = context;
    const given = /^Bearer ([^\s]+)$/i.exec(req.headers.authorization ?? '')?.[1];
    if (given === undefined) throw new ApiError('unauthorized', { reason: 'no bearer token' });
    if (given.length > longestToken) throw new ApiError('unauthorized', { reason: 'the token is too long' });
    context.caller = { merchantAccountIds: [], scopes: unrestricted };
    const claims = claimsOf(given);
    if (!claims) return;
    const { scopes, exp } = claims;
    // A JWT without `exp` passes: it was written by hand, for the mock.
    if (typeof exp === 'number' && exp + leewaySeconds <= now().getTime() / 1000)
      throw new ApiError('unauthorized', { reason: 'the token is a JWT that has expired' });
    if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string' && isScope(scope)))
      throw new ApiError('unauthorized', {
        reason: 'the token is a JWT whose scopes are missing or malformed',
      });
    if (!isAllowed(operation.scopes, scopes as string[], unrestricted))
      throw forbidden('scopes', operation.scopes);
    context.caller = { merchantAccountIds: [], scopes: scopes as string[] };
  };

/** Undefined if the token is not a JWT. */
function claimsOf(text: string): Record<string, unknown> | undefined {
  const parts = text.split('.');
  if (parts.length !== 3) return undefined;
  const [header, claims] = parts.map(parse);
  return header && claims;
}

function parse(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parseStrictJson(Buffer.from(part, 'base64url').toString('utf8'));
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
