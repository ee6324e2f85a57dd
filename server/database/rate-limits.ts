// The counters of the rate limits. They are in the database, so that all instances share them.
import { sql } from 'kysely';
import type { Db } from './database.ts';

export interface RateLimit {
  scope: string;
  limit: number;
  windowSeconds: number;
}

/** Counts one call. Undefined when it is within the limit, otherwise the milliseconds until the window ends. */
export type CountCall = (db: Db, limit: RateLimit, key: string) => Promise<number | undefined>;

export const countCall: CountCall = async (db, { scope, limit, windowSeconds }, key) => {
  const window = sql`${windowSeconds * 1000}::bigint`;
  // By the clock of the database: with the clocks of instances, which differ, one would end the window of another at once.
  const { rows } = await sql<{ points: number; left: number }>`
    insert into rate_limits as counter (key, points, expire)
    values (${`${scope}:${key}`}, 1, (extract(epoch from now()) * 1000)::bigint + ${window})
    on conflict (key) do update set
      points = case when counter.expire <= excluded.expire - ${window} then 1 else counter.points + 1 end,
      expire = case when counter.expire <= excluded.expire - ${window} then excluded.expire else counter.expire end
    returning points, (expire - extract(epoch from now()) * 1000)::integer as left`.execute(db);
  return rows.find(({ points }) => points > limit)?.left;
};
