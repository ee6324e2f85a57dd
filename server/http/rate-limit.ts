// Rate limits, as the contract defines them: which operations, for tokens with which scope, how many calls. Calls are counted over
// all operations with the same scope.
import type { Operation } from '../../generated/operations.ts';
import { ApiError } from '../errors.ts';
import type { CountCall } from '../database/rate-limits.ts';
import type { Step } from './context.ts';

export const createRateLimit =
  (countCall: CountCall): Step =>
  async ({ operation, caller, db }) => {
    const { rateLimit }: Operation = operation;
    if (!rateLimit || !caller.scopes.includes(rateLimit.scope)) return;
    const milliseconds = await countCall(db, rateLimit, caller.tokenDigest);
    if (milliseconds !== undefined)
      throw tooMany(milliseconds, `too many calls with one ${rateLimit.scope} token`);
  };

/** `reason` is for the log and the sandbox's page; callers are not told. */
export const tooMany = (milliseconds: number, reason: string): ApiError => {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000));
  return new ApiError('too_many_requests', { reason, headers: { 'Retry-After': String(seconds) } });
};
