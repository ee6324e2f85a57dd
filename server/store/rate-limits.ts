// The counters of the rate limits. They are in the database, so that all instances share them.
import { sql } from 'kysely';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { withinBudget, type Budget } from './budget.ts';
import type { Db, Pool } from './database.ts';

export interface RateLimit {
  scope: string;
  limit: number;
  windowSeconds: number;
}

/** Counts one call. Undefined when it is within the limit, otherwise the milliseconds until the window ends. */
export type CountCall = (scope: string, key: string, budget: Budget) => Promise<number | undefined>;

export function createRateLimiter(pool: Pool, limits: readonly RateLimit[]): CountCall {
  const limiters = new Map(
    limits.map(({ scope, limit, windowSeconds }) => [
      scope,
      new RateLimiterPostgres({
        storeClient: pool,
        storeType: 'pool',
        tableName: 'rate_limits',
        tableCreated: true,
        keyPrefix: scope,
        points: limit,
        duration: windowSeconds,
        clearExpiredByTimeout: false,
      }),
    ]),
  );
  return async (scope, key, budget) => {
    try {
      // The library takes no budget, so its statement may go on until its own limit.
      const consume = async () => limiters.get(scope)?.consume(key);
      await withinBudget(budget, Infinity, consume, () => undefined);
      return undefined;
    } catch (error) {
      if (error instanceof RateLimiterRes) return error.msBeforeNext;
      throw error;
    }
  };
}

/** Deletes the counters of windows that have ended. */
export async function deleteRateLimits(db: Db, now: Date): Promise<number> {
  const { numAffectedRows } = await sql`delete from rate_limits where expire < ${now.getTime()}`.execute(db);
  return Number(numAffectedRows ?? 0);
}
