// The counters of the rate limits. They are in the database, so that all instances share them.
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { withinBudget, type Budget } from './budget.ts';
import type { Pool } from './database.ts';

export interface RateLimit {
  scope: string;
  limit: number;
  windowSeconds: number;
}

/** Counts one call. Undefined when it is within the limit, otherwise the milliseconds until the window ends. */
export type CountCall = (scope: string, key: string, budget: Budget) => Promise<number | undefined>;

interface Counted {
  rows: { points: number; expire: number }[];
}

/** The library ends windows by the clock of the instance. With clocks that differ, one would end the window of another at once. */
class ByDatabaseClock extends RateLimiterPostgres {
  readonly #pool: Pool;

  constructor(pool: Pool, { scope, limit, windowSeconds }: RateLimit) {
    super({
      storeClient: pool,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      keyPrefix: scope,
      points: limit,
      duration: windowSeconds,
      clearExpiredByTimeout: false,
    });
    this.#pool = pool;
  }

  /** Called by the library, which expects the end of the window by the clock of this instance. */
  protected async _upsert(key: string, points: number, milliseconds: number): Promise<Counted> {
    const { rows } = await this.#pool.query<{ points: number; left: number }>(
      `insert into rate_limits as counter (key, points, expire)
       values ($1, $2, (extract(epoch from now()) * 1000)::bigint + $3)
       on conflict (key) do update set
         points = case when counter.expire <= excluded.expire - $3 then $2 else counter.points + $2 end,
         expire = case when counter.expire <= excluded.expire - $3 then excluded.expire else counter.expire end
       returning points, (expire - extract(epoch from now()) * 1000)::integer as left`,
      [key, points, milliseconds],
    );
    return { rows: rows.map((row) => ({ points: row.points, expire: Date.now() + row.left })) };
  }
}

export function createRateLimiter(pool: Pool, limits: readonly RateLimit[]): CountCall {
  const limiters = new Map(limits.map((limit) => [limit.scope, new ByDatabaseClock(pool, limit)]));
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
