// The counters of the rate limits. They are in the database, so that all instances share them.
import { withinBudget, type Budget } from './connection.ts';
import type { Pool } from './database.ts';

export interface RateLimit {
  scope: string;
  limit: number;
  windowSeconds: number;
}

/** Counts one call. Undefined when it is within the limit, otherwise the milliseconds until the window ends. */
export type CountCall = (scope: string, key: string, budget: Budget) => Promise<number | undefined>;

// By the clock of the database: with the clocks of instances, which differ, one would end the window of another at once.
const count = `
  insert into rate_limits as counter (key, points, expire)
  values ($1, 1, (extract(epoch from now()) * 1000)::bigint + $2)
  on conflict (key) do update set
    points = case when counter.expire <= excluded.expire - $2 then 1 else counter.points + 1 end,
    expire = case when counter.expire <= excluded.expire - $2 then excluded.expire else counter.expire end
  returning points, (expire - extract(epoch from now()) * 1000)::integer as left`;

export function createRateLimiter(pool: Pool, limits: readonly RateLimit[]): CountCall {
  const limitOf = new Map(limits.map((limit) => [limit.scope, limit]));
  return async (scope, key, budget) => {
    const limited = limitOf.get(scope);
    if (!limited) return undefined;
    const values = [`${scope}:${key}`, limited.windowSeconds * 1000];
    // When the budget ends, the statement may go on until its own time limit.
    const { rows } = await withinBudget(
      budget,
      Infinity,
      () => pool.query<{ points: number; left: number }>(count, values),
      () => undefined,
    );
    return rows.find(({ points }) => points > limited.limit)?.left;
  };
}
