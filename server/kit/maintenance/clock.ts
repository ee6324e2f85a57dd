// Whether the clock of this machine agrees with the database's. Tokens, the expiration dates of new cards and the log go by it; what
// instances share goes by the database's (rules/database-time.ts), so a wrong clock is told, and the service goes on.
import { sql } from 'kysely';
import type { Db } from '../database/database.ts';
import type { DatabaseTime } from '../rules/database-time.ts';

const mostSeconds = 30;

/** For what is judged outside of a transaction. */
export async function readTime(db: Db): Promise<DatabaseTime> {
  const { rows } = await sql<{ now: DatabaseTime }>`select clock_timestamp() as now`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('The database did not tell its time.');
  return row.now;
}

/** `here` is the clock of this process. Negative if it is behind. */
export async function readSecondsAhead(db: Db, here: () => Date): Promise<number> {
  const now = await readTime(db);
  return (here().getTime() - now.getTime()) / 1000;
}

/** Undefined if they agree well enough. */
export function describeDifference(seconds: number): string | undefined {
  if (Math.abs(seconds) <= mostSeconds) return undefined;
  const side = seconds > 0 ? 'ahead of' : 'behind';
  return `the clock of this machine is ${Math.round(Math.abs(seconds))} s ${side} that of the database: tokens and expiration dates are judged by it, so set both by NTP`;
}
