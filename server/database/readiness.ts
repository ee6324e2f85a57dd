// Whether requests can be served now: the database answers, accepts writes, and has the tables of this version.
import pg from 'pg';
import { contractVersion } from '../../generated/operations.ts';
import { codeOf } from '../faults.ts';
import { migrations } from './migrations/index.ts';

export type Unready = 'database unreachable' | 'database read-only' | 'migrations missing';

/** Together well within 5 s. */
const connectMilliseconds = 2_000;
const queryMilliseconds = 500;

const undefinedTable = '42P01';

/**
 * Undefined when everything is as it must be. It asks on a new connection: a database is ready also while those of the pools are
 * busy, and an old one may be to a server that is no longer the primary, or that has other settings now.
 */
export async function findUnready(url: string): Promise<Unready | undefined> {
  const names = Object.keys(migrations);
  const client = new pg.Client({
    connectionString: url,
    application_name: `payments-service ${contractVersion}`,
    connectionTimeoutMillis: connectMilliseconds,
    query_timeout: queryMilliseconds,
  });
  // Whatever fails, the query does.
  client.on('error', () => undefined);
  try {
    await client.connect();
    // The server has a limit, too: a session that waits for a lock does not notice that we have closed the connection. Set in the
    // same message, because a pooler refuses it as an option of the connection.
    // `transaction_read_only` is also on while a standby replays the log of its primary.
    const results = (await client.query(
      `set local statement_timeout = ${queryMilliseconds};
       select current_setting('transaction_read_only')::boolean as "isReadOnly",
         (select count(*)::integer from applied_migrations
          where name in (${names.map((name) => client.escapeLiteral(name)).join(', ')})) as applied`,
    )) as unknown as pg.QueryResult<{ isReadOnly: boolean; applied: number }>[];
    const [row] = results[1]?.rows ?? [];
    if (row?.isReadOnly !== false) return 'database read-only';
    return row.applied === names.length ? undefined : 'migrations missing';
  } catch (error) {
    return codeOf(error) === undefinedTable ? 'migrations missing' : 'database unreachable';
  } finally {
    // Not awaited: a frozen server never says goodbye. A query under way is cut off.
    client.end().catch(() => undefined);
  }
}
