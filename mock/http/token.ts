// The bearer token is read but its signature is never verified, and its `kid` never looked up: the mock has no keys. Any opaque text is accepted. To a
// JWT all other rules of the service apply, so that a backend that signs wrong tokens, or too seldom new ones, notices it here.
import {
  checkClaims,
  InvalidToken,
  parseObject,
  readKeyId,
  longestToken,
  signingAlgorithm,
} from '../../server/kit/access/claims.ts';
import { forbidden } from '../../server/kit/access/permission.ts';
import { isAllowed } from '../../server/kit/access/roles/rules.ts';
import { ApiError } from '../../server/kit/errors.ts';
import { check, type Passed, type Step } from '../../server/kit/http/pipeline.ts';
import type { Authenticated, Routed } from './known.ts';

// The mock has no key pairs and no roles, so nothing restricts the scopes of a token.
const unrestricted = ['*.read', '*.write'];

export const createToken =
  (now: () => Date): Step<Passed<'notEarly'>, Authenticated> =>
  (_known, req) => {
    const given = /^Bearer ([^\s]+)$/i.exec(req.headers.authorization ?? '')?.[1];
    if (given === undefined) throw new ApiError('unauthorized', { reason: 'no bearer token' });
    if (given.length > longestToken) throw new ApiError('unauthorized', { reason: 'the token is too long' });
    const claims = claimsOf(given);
    const scopes = claims ? scopesOf(given, claims, now()) : unrestricted;
    return { caller: { accounts: 'all', scopes, isAnonymous: !claims } };
  };

export const permission = check('permitted', ({ operation, caller }: Routed & Authenticated) => {
  if (!caller.isAnonymous && !isAllowed(operation.scopes, caller.scopes, unrestricted))
    throw forbidden('scopes', operation.scopes);
});

function scopesOf(token: string, claims: Record<string, unknown>, now: Date): string[] {
  try {
    readKeyId(token);
    // The service compares it with the algorithm of the key pair.
    const { alg } = parseObject(token.slice(0, token.indexOf('.')));
    if (!Object.values<unknown>(signingAlgorithm).includes(alg))
      throw new InvalidToken('alg is neither ES512 nor RS512');
    return checkClaims(claims, now).scopes;
  } catch (error) {
    if (!(error instanceof InvalidToken)) throw error;
    throw new ApiError('unauthorized', { reason: `the token is a JWT, and refused: ${error.message}` });
  }
}

/** Undefined if the token is not a JWT. */
function claimsOf(text: string): Record<string, unknown> | undefined {
  const [header, claims, ...rest] = text.split('.');
  if (header === undefined || claims === undefined || rest.length !== 1) return undefined;
  try {
    parseObject(header);
    return parseObject(claims);
  } catch {
    return undefined;
  }
}
