// The embedded PostgreSQL in DATA_DIR, for installations without DATABASE_URL. This folder exports little more than a database
// URL; only the opening of the database and the command line know whether PostgreSQL is embedded.
//
// A start adopts the PostgreSQL that answers there, whoever started it. Every process that uses it keeps one connection open,
// and the last one to leave stops it. After kill -9 it runs on until a later user leaves, or `payments database stop`.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorFault, codeOf } from '../../faults.ts';
import { findPackage, prepareBinaries } from './binaries.ts';
import { EmbeddedClient } from './client.ts';
import { createPrivate, readPrivate } from './data-dir.ts';
import { findPlace, makePlace, type Log, type Place } from './place.ts';
import {
  lastAddress,
  randomPort,
  socketAddress,
  createCluster,
  hasCluster,
  isRunning,
  recordedPid,
  removeDrafts,
  start,
  stop,
  database,
  urlOf,
} from './server.ts';

export interface EmbeddedDatabase {
  url: string;
  /** False when it was running already. */
  started: boolean;
  directory: string;
  /** Stops it, even if other processes use it. */
  stop(): Promise<void>;
  /** Ends our use of it, and stops it unless other processes use it. */
  release(): Promise<void>;
}

export interface EmbeddedOptions {
  dataDir: string;
  log?: Log;
  /** The folder of the package with the binaries; by default that of this platform. */
  packageFolder?: string;
  /** `name=value`, for tests, which need not wait for the disk. */
  settings?: readonly string[];
  /** Called when it stops while we use it. Nothing starts it again. */
  onStopped?: () => void;
}

const silenceMilliseconds = 15_000;
const recoveryMilliseconds = 120_000;

/** Adopts the PostgreSQL that runs in this DATA_DIR, or starts it. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { dataDir, log = () => undefined, settings = [], onStopped = () => undefined } = options;
  const place = makePlace(dataDir, log);
  const password = findOrCreatePassword(place);
  const prepare = () => prepareBinaries(options.packageFolder ?? findPackage(), place, log);
  let wanted = socketAddress(place) ?? lastPort(place) ?? randomPort();
  let hasStarted = false;
  let began = Date.now();
  for (;;) {
    const found = await connect(place, password);
    if (typeof found === 'object') {
      await makeDatabase(found);
      if (hasStarted) await removeDrafts(place);
      return { started: hasStarted, ...handleOf(place, found, prepare, onStopped) };
    }
    if (Date.now() - began > (found === 'starting' ? recoveryMilliseconds : silenceMilliseconds))
      throw silent(place);
    if (found === undefined && !hasStarted) {
      const binaries = await prepare();
      if (!hasCluster(place)) {
        await createCluster(place, binaries, password);
        began = Date.now();
      }
      const refusal = await start(place, binaries, wanted, settings);
      hasStarted = refusal === undefined;
      if (refusal === 'no sockets') wanted = lastPort(place) ?? randomPort();
      if (refusal === 'port taken') wanted = randomPort();
    } else await sleep(100);
  }
}

function handleOf(place: Place, presence: Presence, prepare: () => Promise<string>, onStopped: () => void) {
  presence.onEnd(onStopped);
  const leave = async (mayStop: () => Promise<boolean>): Promise<void> => {
    presence.onEnd(() => undefined);
    if (await mayStop().catch(() => false)) await stop(place, await prepare());
    await presence.end();
  };
  return {
    url: presence.url,
    directory: place.directory,
    stop: () => leave(presence.answers),
    release: () => leave(() => isLast(presence)),
  };
}

export type Stopped = 'stopped' | 'in use' | 'not running';

/** Stops what runs in this DATA_DIR, unless another process uses it. */
export async function stopEmbedded(dataDir: string): Promise<Stopped> {
  const place = findPlace(dataDir);
  const found = place && (await connect(place, readPassword(place) ?? '', 'leaving'));
  if (!place || found === undefined) {
    if (place && (await isRunning(place))) throw silent(place);
    return 'not running';
  }
  try {
    if (found !== 'starting' && !(await isLast(found))) return 'in use';
    await stop(place, await prepareBinaries(findPackage(), place, () => undefined));
    return 'stopped';
  } finally {
    if (found !== 'starting') await found.end();
  }
}

/** Whether this DATA_DIR has a database, running or not. Creates nothing. */
export function hasDatabase(dataDir: string): boolean {
  const place = findPlace(dataDir);
  return place !== undefined && hasCluster(place);
}

/** The URL of the database that runs in this DATA_DIR; undefined if none runs. Does not start it, or keep it running. */
export async function runningUrl(dataDir: string): Promise<string | undefined> {
  const place = findPlace(dataDir);
  const password = place && readPassword(place);
  if (!place || password === undefined) return undefined;
  const found = await connect(place, password, 'leaving');
  if (typeof found !== 'object') return undefined;
  await found.end();
  return found.url;
}

const passwordFile = (place: Place): string => join(place.root, 'postgres-password');
const readPassword = (place: Place): string | undefined => readPrivate(passwordFile(place))?.trim();

/** The cluster is looked for first: another process that starts at the same time makes the password before the cluster. */
function findOrCreatePassword(place: Place): string {
  const hadCluster = hasCluster(place);
  const saved = readPassword(place);
  if (saved !== undefined) return saved;
  const file = passwordFile(place);
  if (hadCluster)
    throw new OperatorFault(
      `${file} is missing, and the database in ${place.directory} cannot be opened without it: ` +
        'restore it, or remove both to start with an empty database.',
    );
  const created = randomBytes(24).toString('base64url');
  return createPrivate(file, `${created}\n`) ? created : (readPassword(place) ?? created);
}

function lastPort(place: Place) {
  const last = lastAddress(place);
  return last?.host === '127.0.0.1' ? last : undefined;
}

function silent(place: Place): Error {
  const pid = recordedPid(place);
  return new OperatorFault(
    `Process ${pid} has the database in ${place.directory} open, but does not answer. If it is PostgreSQL (ps -p ${pid}), ` +
      `give it time to recover, or end it: kill -INT ${pid}. If it is not, remove ${place.directory}/data/postmaster.pid.`,
  );
}

// The connection that each process keeps open while it uses the embedded PostgreSQL. The kernel closes it when the process
// ends, however it ends, so PostgreSQL itself knows who uses it.

/** Names of these connections in pg_stat_activity. */
const names = { present: 'payments-service present', leaving: 'payments-service leaving' };

interface Presence {
  /** The URL of our database. The connection itself is to `postgres`, which always exists. */
  url: string;
  query: (statement: string) => Promise<Record<string, unknown>[]>;
  answers: () => Promise<boolean>;
  /** Called when the connection ends. */
  onEnd: (call: () => void) => void;
  end: () => Promise<void>;
}

const timeoutMilliseconds = 5_000;

/** Undefined if nothing answers there; `starting` while PostgreSQL starts, recovers or stops. */
async function connect(
  place: Place,
  password: string,
  as: keyof typeof names = 'present',
): Promise<Presence | 'starting' | undefined> {
  const address = lastAddress(place);
  if (!address || recordedPid(place) === undefined) return undefined;
  // A folder of the owner has its socket, but any program can listen on its port while PostgreSQL is down.
  if (address.host === '127.0.0.1' && !(await isRunning(place))) return undefined;
  const client = new EmbeddedClient({
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
    const onEnd = (call: () => void) => client.removeAllListeners('end').once('end', call);
    return { url: urlOf(address, password), query, answers, onEnd, end };
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
async function makeDatabase({ query }: Presence): Promise<void> {
  const found = await query(`SELECT FROM pg_database WHERE datname = '${database}'`);
  if (found.length > 0) return;
  await query(`CREATE DATABASE ${database}`).catch((error: unknown) => {
    // Another process created it at the same time.
    if (!['42P04', '23505'].includes(codeOf(error) ?? '')) throw error;
  });
}

/** Whether no other process uses PostgreSQL. We leave first: of two that leave at the same time, one at least is the last. */
async function isLast({ query }: Presence): Promise<boolean> {
  await query(`SET application_name = '${names.leaving}'`);
  const others = await query(`SELECT FROM pg_stat_activity WHERE application_name = '${names.present}'`);
  return others.length === 0;
}
