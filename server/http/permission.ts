import { findLack } from '../domain/scopes.ts';
import { ApiError } from '../errors.ts';
import type { Step } from './context.ts';

const refusals = {
  scopes: 'the scopes of the token do not allow',
  roles: 'the roles of the key pair do not allow',
  both: 'neither the scopes of the token nor the roles of the key pair allow',
};

export const permission: Step = ({ caller, operation }) => {
  const lack = findLack(operation.scopes, caller.scopes, caller.permissions);
  if (lack === undefined) return;
  throw new ApiError('forbidden', { reason: `${refusals[lack]} ${operation.scopes.join(' or ')}` });
};
