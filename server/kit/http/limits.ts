// Limits, as the contract defines them. Rate limits: which operations, for tokens with which scope, how many calls. Calls are
// counted over all operations with the same scope.
import type { Operation } from '../../../generated/operations.ts';
import type { RecordCall } from '../database/rate-limits.ts';
import { ApiError } from '../errors.ts';
import type { Arrived, Authenticated, Owned, Routed, Selected, Validated } from './known.ts';
import { check } from './pipeline.ts';

export const createRateLimit = (recordCall: RecordCall) =>
  check('counted', async (known: Pick<Arrived, 'deadline'> & Routed & Authenticated & Owned) => {
    const { caller } = known;
    // Of no operation in particular: a contract may limit none.
    const operation: Operation = known.operation;
    const { rateLimit } = operation;
    if (!rateLimit || !caller.scopes.includes(rateLimit.scope)) return;
    const milliseconds = await recordCall(known, rateLimit, caller.tokenDigest);
    if (milliseconds !== undefined)
      throw tooMany(milliseconds, `too many calls with one ${rateLimit.scope} token`);
  });

/** `reason` is for the log and the sandbox's page; callers are not told. */
export const tooMany = (milliseconds: number, reason: string): ApiError => {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000));
  return new ApiError('too_many_requests', { reason, headers: { 'Retry-After': String(seconds) } });
};

type Known = Pick<Arrived, 'deadline'> & Routed & Authenticated & Selected & Owned & Validated;

/** What a domain checks besides, by its own extensions of the contract. Both refuse by throwing. */
export interface OwnChecks {
  /** Of a request that is carried out, and not of one whose earlier answer is repeated. */
  beforeHandler: (known: Known) => Promise<void>;
  /** Before a caller learns that its Idempotency-Key was used, for the same request (`isRepeated`) or for another. */
  beforeKnownKey: (known: Known, isRepeated: boolean) => Promise<void>;
}
