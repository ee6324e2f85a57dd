import { isAllowed } from '../domain/scopes.ts';
import { ApiError } from '../errors.ts';
import type { Step } from './context.ts';

export const permission: Step = ({ caller, operation }) => {
  if (isAllowed(operation.scopes, caller.scopes, caller.permissions)) return;
  throw new ApiError('forbidden', { reason: `neither scopes nor roles reach ${operation.scopes.join(' or ')}` });
};
