// The embedded PostgreSQL in DATA_DIR, for installations without DATABASE_URL. This folder exports little more than a database
// URL; only the opening of the database and the command line know whether PostgreSQL is embedded.
//
// A start adopts the PostgreSQL that answers there, whoever started it. Every process that uses it keeps one connection open,
// and the last one to leave stops it. After kill -9 it runs on until a later user leaves, such as any command.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { packageName } from '../../../../generated/operations.ts';
import { OperatorFault, codeOf } from '../../faults.ts';
import { findPackage, prepareBinaries } from './binaries.ts';
import { createPrivate, readPrivate } from './data-dir.ts';
import { findFolder, makeFolder, type DatabaseFolder, type Log } from './folder.ts';
import {
  createCluster,
  database,
  hasCluster,
  isRunning,
  lastAddress,
  lastPort,
  randomPort,
  recordedPid,
  socketAddress,
  start,
  stop,
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
  /** Keeps the database as it is now, for `restore`, which must follow. Nobody may be connected to it. */
  keep: () => Promise<void>;
  /** Replaces the database by a copy of what was kept, and disconnects whoever uses it. */
  restore: () => Promise<void>;
}

interface EmbeddedOptions {
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
  const folder = makeFolder(dataDir, log);
  const password = findOrCreatePassword(folder);
  const binaries = await prepareBinaries(options.packageFolder ?? findPackage(), folder, log);
  let wanted = socketAddress(folder.directory) ?? lastPort(folder) ?? randomPort();
  let started = false;
  let began = Date.now();
  let found: Connected | 'starting' | undefined;
  try {
    for (;;) {
      found = await connect(folder, password, 'present');
      if (typeof found === 'object') break;
      if (Date.now() - began > (found === 'starting' ? recoveryMilliseconds : silenceMilliseconds))
        throw silent(folder);
      if (found === 'starting' || started) {
        await sleep(100);
        continue;
      }
      if (!hasCluster(folder)) {
        await createCluster(folder, binaries, password, settings);
        began = Date.now();
      }
      const refusal = await start(folder, binaries, wanted, settings);
      started = refusal === undefined;
      if (refusal === 'no sockets') wanted = lastPort(folder) ?? randomPort();
      if (refusal === 'port taken') wanted = randomPort();
    }
    await makeDatabase(found.client);
  } catch (error) {
    // Why it failed matters more than what then could not be stopped.
    if (started) await stop(folder, binaries).catch(() => undefined);
    throw error;
  }
  const { url, client } = found;
  client.once('end', onStopped);
  let copy: Promise<void> | undefined;
  const copyKept = () => change(client, `CREATE DATABASE ${spare} TEMPLATE ${kept}`);
  const leave = async (mayStop: Promise<boolean>): Promise<void> => {
    client.off('end', onStopped);
    if (await mayStop.catch(() => false)) await stop(folder, binaries);
    await client.end().catch(() => undefined);
  };
  return {
    url,
    started,
    directory: folder.directory,
    stop: () => leave(client.query('SELECT 1').then(() => true)),
    release: () => leave(isLast(client)),
    keep: () => change(client, `ALTER DATABASE ${database} RENAME TO ${kept}`),
    restore: async () => {
      await (copy ?? copyKept());
      await change(client, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
      await change(client, `ALTER DATABASE ${spare} RENAME TO ${database}`);
      // For the next time, because a copy takes longer than the rest. If it fails, that time says so.
      copy = copyKept();
      copy.catch(() => undefined);
    },
  };
}

const kept = `${database}_kept`;
const spare = `${database}_spare`;

/** A checkpoint or a copy takes longer than what else this connection does. */
const changeMilliseconds = 60_000;

async function change(client: EmbeddedClient, text: string): Promise<void> {
  const statement = { text, query_timeout: changeMilliseconds };
  await client.query(statement);
}

/** Whether this DATA_DIR has a database, running or not. Creates nothing. */
export function hasDatabase(dataDir: string): boolean {
  const folder = findFolder(dataDir);
  return folder !== undefined && hasCluster(folder);
}

/** The URL of the database that runs in this DATA_DIR; undefined if none runs. Does not start it, or keep it running. */
export async function runningUrl(dataDir: string): Promise<string | undefined> {
  const folder = findFolder(dataDir);
  const found = folder && (await connect(folder, readPassword(folder) ?? '', 'leaving'));
  if (typeof found !== 'object') return undefined;
  await found.client.end().catch(() => undefined);
  return found.url;
}

const passwordFile = ({ root }: DatabaseFolder): string => join(root, 'postgres-password');
const readPassword = (folder: DatabaseFolder): string | undefined =>
  readPrivate(passwordFile(folder))?.trim();

/** The cluster is looked for first: another process that starts at the same time makes the password before the cluster. */
function findOrCreatePassword(folder: DatabaseFolder): string {
  const hadCluster = hasCluster(folder);
  const saved = readPassword(folder);
  if (saved !== undefined) return saved;
  const file = passwordFile(folder);
  if (hadCluster)
    throw new OperatorFault(
      `${file} is missing, and the database in ${folder.directory} cannot be opened without it: ` +
        'restore it, or remove both to start with an empty database.',
    );
  const created = randomBytes(24).toString('base64url');
  return createPrivate(file, `${created}\n`) ? created : (readPassword(folder) ?? created);
}

function silent(folder: DatabaseFolder): Error {
  const pid = recordedPid(folder);
  return new OperatorFault(
    `Process ${pid} has the database in ${folder.directory} open, but does not answer. If it is PostgreSQL (ps -p ${pid}), ` +
      `give it time to recover, or end it: kill -INT ${pid}. If it is not, remove ${folder.directory}/data/postmaster.pid.`,
  );
}

// The connection that each process keeps open while it uses the embedded PostgreSQL. The kernel closes it when the process
// ends, however it ends, so PostgreSQL itself knows who uses it.

interface Connected {
  /** The URL of our database. The client is connected to `postgres`, which always exists. */
  url: string;
  client: EmbeddedClient;
}

/** The name of such a connection in pg_stat_activity. */
const nameOf = (use: 'present' | 'leaving'): string => `${packageName} ${use}`;

const timeoutMilliseconds = 5_000;

/** Undefined if nothing answers there; `starting` while PostgreSQL starts, recovers or stops. */
async function connect(
  folder: DatabaseFolder,
  password: string,
  use: 'present' | 'leaving',
): Promise<Connected | 'starting' | undefined> {
  const address = lastAddress(folder);
  if (!address) return undefined;
  // A folder of the owner has its socket, but any program can listen on its port while PostgreSQL is down.
  if (address.host === '127.0.0.1' && !(await isRunning(folder))) return undefined;
  const client = new EmbeddedClient({
    connectionString: urlOf(address, password, 'postgres'),
    application_name: nameOf(use),
    connectionTimeoutMillis: timeoutMilliseconds,
    query_timeout: timeoutMilliseconds,
    ssl: false,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return { url: urlOf(address, password), client };
  } catch (error) {
    await client.end().catch(() => undefined);
    const code = codeOf(error) ?? '';
    if (code === '28P01')
      throw new OperatorFault(
        'The embedded PostgreSQL refuses the password in DATA_DIR/postgres-password: restore the right one.',
        { cause: error },
      );
    return ['57P03', '53300'].includes(code) ? 'starting' : undefined;
  }
}

/** Creates our database if it is missing: the process that created the cluster may have been killed. */
async function makeDatabase(client: EmbeddedClient): Promise<void> {
  const found = await client.query(`SELECT FROM pg_database WHERE datname = '${database}'`);
  if (found.rowCount !== 0) return;
  await client.query(`CREATE DATABASE ${database}`).catch((error: unknown) => {
    // Another process created it at the same time.
    if (!['42P04', '23505'].includes(codeOf(error) ?? '')) throw error;
  });
}

/** Whether no other process uses PostgreSQL. We leave first: of two that leave at the same time, one at least is the last. */
async function isLast(client: EmbeddedClient): Promise<boolean> {
  await client.query(`SET application_name = '${nameOf('leaving')}'`);
  const others = await client.query(
    `SELECT FROM pg_stat_activity WHERE application_name = '${nameOf('present')}'`,
  );
  return others.rowCount === 0;
}

/**
 * Talks only to a server that proves by SCRAM that it knows the password. While PostgreSQL is down, another program may listen on
 * its port: it must get neither the password nor a statement.
 */
export class EmbeddedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    let isProven = false;
    const refuse = () => {
      if (!isProven)
        this.connection.stream.destroy(new Error('another program has the port of the embedded database'));
    };
    // These listeners come before those of pg, which send the password.
    this.connection.once('authenticationSASLFinal', () => (isProven = true));
    this.connection.once('authenticationCleartextPassword', refuse);
    this.connection.once('authenticationMD5Password', refuse);
    this.connection.once('authenticationOk', refuse);
  }
}
