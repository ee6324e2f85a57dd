// Whether requests can be served now: the database answers, accepts writes, and has the tables of this version.
import type { Pool } from './database.ts';
import { migrations } from './migrations/index.ts';

export type Unready = 'database unreachable' | 'database read-only' | 'migrations missing';

/** Undefined when everything is as it must be. */
export async function findUnready(pool: Pick<Pool, 'query'>): Promise<Unready | undefined> {
  const names = Object.keys(migrations);
  try {
    // `transaction_read_only` is also on while a standby replays the log of its primary.
    const { rows } = await pool.query<{ isReadOnly: boolean; applied: number }>(
      `select current_setting('transaction_read_only')::boolean as "isReadOnly",
         (select count(*) from applied_migrations where name = any($1::text[])) as applied`,
      [names],
    );
    if (rows[0]?.isReadOnly !== false) return 'database read-only';
    return rows[0].applied === names.length ? undefined : 'migrations missing';
  } catch (error) {
    return isUndefinedTable(error) ? 'migrations missing' : 'database unreachable';
  }
}

const isUndefinedTable = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === '42P01';
