// The contract says which operations are limited, for tokens with which scope, and how often. Counted in the database, so
// that all instances count together.
import type pg from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { operations, type Operation } from '../../generated/operations.ts';
import { ApiError } from '../errors.ts';
import type { Step } from './context.ts';

export function createRateLimit(pool: pg.Pool): Step {
  const limiters = new Map<string, RateLimiterPostgres>();
  for (const { rateLimit } of Object.values(operations) as Operation[]) {
    if (!rateLimit || limiters.has(rateLimit.scope)) continue;
    limiters.set(
      rateLimit.scope,
      new RateLimiterPostgres({
        storeClient: pool,
        tableName: 'rate_limits',
        tableCreated: true,
        // One count over all operations with the same scope.
        keyPrefix: rateLimit.scope,
        points: rateLimit.limit,
        duration: rateLimit.windowSeconds,
        clearExpiredByTimeout: false,
      }),
    );
  }
  return async ({ operation, caller }) => {
    const { rateLimit }: Operation = operation;
    if (!rateLimit || !caller.scopes.includes(rateLimit.scope)) return;
    try {
      await limiters.get(rateLimit.scope)?.consume(caller.tokenDigest);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      const seconds = Math.max(1, Math.ceil(error.msBeforeNext / 1000));
      throw new ApiError(429, { headers: { 'Retry-After': String(seconds) } });
    }
  };
}
