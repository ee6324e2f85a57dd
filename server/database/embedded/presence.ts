// The connection that each process keeps open while it uses the embedded PostgreSQL. The kernel closes it when the process
// ends, however it ends, so PostgreSQL itself knows who uses it.
import pg from 'pg';
import { codeOf, OperatorFault } from '../../faults.ts';
import { database, lastAddress, urlOf } from './address.ts';
import type { Place } from './place.ts';
import { recordedPid } from './server.ts';

/** Names of these connections in pg_stat_activity. */
const names = { present: 'payments-service present', leaving: 'payments-service leaving' };

export interface Presence {
  /** The URL of our database. The connection itself is to `postgres`, which always exists. */
  url: string;
  query: (statement: string) => Promise<Record<string, unknown>[]>;
  answers: () => Promise<boolean>;
  end: () => Promise<void>;
}

const timeoutMilliseconds = 5_000;

/** Undefined if nothing answers there; `starting` while PostgreSQL starts, recovers or stops. */
export async function connect(
  place: Place,
  password: string,
  as: keyof typeof names = 'present',
): Promise<Presence | 'starting' | undefined> {
  const address = lastAddress(place);
  if (!address || recordedPid(place) === undefined) return undefined;
  const client = new pg.Client({
    connectionString: urlOf(address, password, 'postgres'),
    application_name: names[as],
    connectionTimeoutMillis: timeoutMilliseconds,
    query_timeout: timeoutMilliseconds,
    ssl: false,
  });
  client.on('error', () => undefined);
  const end = () => client.end().catch(() => undefined);
  const query = async (statement: string) => (await client.query<Record<string, unknown>>(statement)).rows;
  try {
    await client.connect();
    await query('SELECT 1');
    const answers = () => query('SELECT 1').then(Boolean);
    return { url: urlOf(address, password), query, answers, end };
  } catch (error) {
    await end();
    const { code = '' } = error as { code?: string };
    if (code === '28P01')
      throw new OperatorFault(
        'The embedded PostgreSQL refuses the password in DATA_DIR/postgres-password: restore the right one.',
        { cause: error },
      );
    return ['57P03', '53300'].includes(code) ? 'starting' : undefined;
  }
}

/** Creates our database if it is missing: the process that created the cluster may have been killed. */
export async function makeDatabase({ query }: Presence): Promise<void> {
  const found = await query(`SELECT FROM pg_database WHERE datname = '${database}'`);
  if (found.length > 0) return;
  await query(`CREATE DATABASE ${database}`).catch((error: unknown) => {
    // Another process created it at the same time.
    if (!['42P04', '23505'].includes(codeOf(error) ?? '')) throw error;
  });
}

/** Whether no other process uses PostgreSQL. We leave first: of two that leave at the same time, one at least is the last. */
export async function isLast({ query }: Presence): Promise<boolean> {
  await query(`SET application_name = '${names.leaving}'`);
  const others = await query(`SELECT FROM pg_stat_activity WHERE application_name = '${names.present}'`);
  return others.length === 0;
}
