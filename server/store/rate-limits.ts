import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Forgets windows that are over; `rate-limiter-flexible` writes the table. */
export async function pruneRateLimits(db: Db, now: Date): Promise<number> {
  const { numAffectedRows } = await sql`delete from rate_limits where expire < ${now.getTime()}`.execute(db);
  return Number(numAffectedRows ?? 0);
}
