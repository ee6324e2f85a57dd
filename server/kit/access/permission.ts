// What the caller may do: what both the scopes of the token and the roles of the key pair allow.
import { ApiError } from '../errors.ts';
import type { Authenticated, Routed } from '../http/known.ts';
import { check } from '../http/pipeline.ts';
import { findLack } from './roles/rules.ts';

const refusals = {
  scopes: 'the scopes of the token do not allow',
  roles: 'the roles of the key pair do not allow',
  both: 'neither the scopes of the token nor the roles of the key pair allow',
};

/** The caller is told what the reference of the operation says, but not whether the token or its key pair lacks it. */
export function forbidden(lack: keyof typeof refusals, scopes: readonly string[]): ApiError {
  const needed = scopes.join(' or ');
  const message = `needs a token with the scope ${needed}, and a key pair with a role that allows the operation`;
  return new ApiError('forbidden', {
    reason: `${refusals[lack]} ${needed}`,
    details: [{ location: 'header', pointer: '/authorization', message, type: 'value_error.scope' }],
  });
}

export const permission = check('permitted', ({ caller, operation }: Routed & Authenticated) => {
  const lack = findLack(operation.scopes, caller.scopes, caller.permissions);
  if (lack !== undefined) throw forbidden(lack, operation.scopes);
});
