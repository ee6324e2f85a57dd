// PostgreSQL as a process: started, asked whether it answers, stopped.
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { readPostmaster } from './cluster.ts';
import type { Place } from './placement.ts';
import { hasCode, servesData } from './process.ts';
import { database, urlOf } from './settings.ts';
import { startWatched, type Watched } from './watchdog.ts';

/** A crash is repaired at the start, which takes time in proportion to what was written last. */
const startPatience = 120_000;
const stopPatience = 20_000;

const settings = (port: number): string[] =>
  [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'max_connections=200',
    'fsync=on',
    'timezone=UTC',
    'log_timezone=UTC',
    'log_checkpoints=off',
    // Errors quote what callers sent, card numbers too. Whoever asked is told; a log is no place for them.
    'log_min_messages=log',
    'log_min_error_statement=panic',
  ].flatMap((setting) => ['-c', setting]);

/** One log for each start, and the one before it. */
async function turnLog(place: Place): Promise<void> {
  const log = join(place.directory, 'postgres.log');
  await rename(log, `${log}.previous`).catch(() => undefined);
  for (const name of await readdir(place.directory)) {
    if (name.startsWith('users.')) await rm(join(place.directory, name), { force: true });
  }
}

export type Refusal = 'port taken' | 'still running';

/** Starts PostgreSQL and waits until it is ready, or says in what way to try again. */
export async function start(place: Place, postgres: string, port: number): Promise<Watched | Refusal> {
  await turnLog(place);
  const watched = await startWatched(place, [postgres, '-D', place.data, ...settings(port)]);
  const deadline = Date.now() + startPatience;
  while (Date.now() < deadline && watched.lives()) {
    const found = await readPostmaster(place);
    if (found?.pid === watched.pid && found.ready) return watched;
    await sleep(10);
  }
  watched.release();
  const log = await readFile(join(place.directory, 'postgres.log'), 'utf8').catch(() => '');
  if (/could not bind|could not create any TCP\/IP sockets/.test(log)) return 'port taken';
  if (/lock file .* already exists|shared memory block .* still in use/.test(log)) return 'still running';
  const reason = /(?:FATAL|PANIC): +(.*)/.exec(log)?.[1] ?? 'it gave no reason';
  throw new Error(
    `The embedded PostgreSQL did not start: ${reason} (its log: ${place.directory}/postgres.log)`,
  );
}

async function ask(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, ssl: false });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(statement);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Whether PostgreSQL answers on that port to our password, or in what way it does not. */
export async function reply(port: number, password: string): Promise<'answers' | 'no database' | 'silent'> {
  try {
    await ask(urlOf(port, password), 'SELECT 1');
    return 'answers';
  } catch (error) {
    if (hasCode(error, '28P01')) {
      throw new Error(
        'The embedded PostgreSQL refuses the password kept in DATA_DIR: put the right one back.',
        {
          cause: error,
        },
      );
    }
    if (hasCode(error, '3D000')) return 'no database';
    // All connections in use is an answer too: it must not be taken for one that hangs.
    return hasCode(error, '53300') ? 'answers' : 'silent';
  }
}

/**
 * Whether it can be used; makes our database if that is all it lacks (who made the cluster may have been
 * killed).
 */
export async function isUsable(port: number, password: string): Promise<boolean> {
  const said = await reply(port, password);
  if (said === 'no database') await ask(urlOf(port, password, 'postgres'), `CREATE DATABASE ${database}`);
  return said !== 'silent';
}

/** Stops PostgreSQL: orderly, but without waiting for its clients; if that takes too long, at once. */
export async function stop(place: Place, pid: number): Promise<void> {
  const deadline = Date.now() + stopPatience;
  let signal: NodeJS.Signals | undefined = 'SIGINT';
  while (await servesData(pid, place.data)) {
    try {
      if (signal) process.kill(pid, signal);
    } catch (error) {
      if (!hasCode(error, 'ESRCH')) throw error;
    }
    signal = undefined;
    if (Date.now() > deadline + stopPatience) throw new Error(`PostgreSQL (${pid}) does not stop.`);
    if (Date.now() > deadline) signal = 'SIGQUIT';
    await sleep(10);
  }
}
