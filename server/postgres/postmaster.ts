// Starts, probes and stops the PostgreSQL server process.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { socketPort, urlOf, type Address } from './address.ts';
import { readPostmaster } from './cluster.ts';
import type { Place } from './placement.ts';
import { hasCode, watchPostmaster } from './process.ts';
import { database } from './settings.ts';
import { startWatched, type Watched } from './watchdog.ts';

/** Long, because a start after a crash includes crash recovery. */
const startTimeout = 120_000;
const stopTimeout = 20_000;

const listening = (address: Address): string[] =>
  'port' in address
    ? ['listen_addresses=127.0.0.1', `port=${address.port}`, 'unix_socket_directories=']
    : ['listen_addresses=', `port=${socketPort}`, `unix_socket_directories=${address.socket}`];

const settingsOf = (address: Address, more: readonly string[]): string[] =>
  [
    'fsync=on',
    ...more,
    ...listening(address),
    'unix_socket_permissions=0700',
    'max_connections=200',
    'timezone=UTC',
    'log_timezone=UTC',
    'log_checkpoints=off',
    // Errors quote values that callers sent, even card numbers, so they must not be logged.
    'log_min_messages=log',
    'log_min_error_statement=panic',
  ].flatMap((setting) => ['-c', setting]);

/** Failures after which a retry can succeed. */
export type Refusal = 'port taken' | 'no sockets' | 'still running';

/** Starts PostgreSQL and waits until it is ready. */
export async function start(
  place: Place,
  postgres: string,
  address: Address,
  settings: readonly string[],
): Promise<Watched | Refusal> {
  const watched = await startWatched(place, [postgres, '-D', place.data, ...settingsOf(address, settings)]);
  const deadline = Date.now() + startTimeout;
  while (Date.now() < deadline && watched.isAlive()) {
    const found = await readPostmaster(place);
    if (found?.pid === watched.pid && found.address) return watched;
    await sleep(10);
  }
  watched.release();
  const log = await readFile(join(place.directory, 'postgres.log'), 'utf8').catch(() => '');
  // Some file systems have none.
  if (/could not create any Unix-domain sockets/.test(log)) return 'no sockets';
  if (/could not bind|could not create any TCP\/IP sockets/.test(log)) return 'port taken';
  if (/lock file .* already exists|shared memory block .* still in use/.test(log)) return 'still running';
  const reason = /(?:FATAL|PANIC): +(.*)/.exec(log)?.[1] ?? 'it logged no reason';
  throw new Error(
    `The embedded PostgreSQL did not start: ${reason} (its log: ${place.directory}/postgres.log)`,
  );
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, ssl: false });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(statement);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Whether PostgreSQL at that address accepts our password and answers. */
export async function probe(
  address: Address,
  password: string,
): Promise<'ready' | 'no database' | 'no answer'> {
  try {
    await execute(urlOf(address, password), 'SELECT 1');
    return 'ready';
  } catch (error) {
    if (hasCode(error, '28P01')) {
      throw new Error(
        'The embedded PostgreSQL refuses the password in DATA_DIR/postgres-password: restore the right one.',
        {
          cause: error,
        },
      );
    }
    if (hasCode(error, '3D000')) return 'no database';
    // "Too many connections" is an answer too: that server does not hang and must not be stopped.
    return hasCode(error, '53300') ? 'ready' : 'no answer';
  }
}

/** Whether it can be used. Creates our database if it is missing: the process that created the cluster may have been killed. */
export async function isUsable(address: Address, password: string): Promise<boolean> {
  const state = await probe(address, password);
  if (state === 'no database')
    await execute(urlOf(address, password, 'postgres'), `CREATE DATABASE ${database}`);
  return state !== 'no answer';
}

/** Stops PostgreSQL with a fast shutdown (SIGINT), which disconnects clients; after the timeout at once (SIGQUIT). */
export async function stop(place: Place, pid: number): Promise<void> {
  const deadline = Date.now() + stopTimeout;
  const isRunning = await watchPostmaster(pid, place.data);
  let signal: NodeJS.Signals | undefined = 'SIGINT';
  while (await isRunning()) {
    try {
      if (signal) process.kill(pid, signal);
    } catch (error) {
      if (!hasCode(error, 'ESRCH')) throw error;
    }
    signal = undefined;
    if (Date.now() > deadline + stopTimeout) throw new Error(`PostgreSQL (${pid}) does not stop.`);
    if (Date.now() > deadline) signal = 'SIGQUIT';
    await sleep(10);
  }
}
