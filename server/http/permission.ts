import { isAllowed } from '../domain/scopes.ts';
import { ApiError } from '../errors.ts';
import type { Step } from './context.ts';

export const permission: Step = ({ caller, operation }) => {
  if (isAllowed(operation.scopes, caller.scopes, caller.permissions)) return;
  throw new ApiError('forbidden', {
    reason: `the scopes of the token or the roles of the key pair do not allow ${operation.scopes.join(' or ')}`,
  });
};
