// The PostgreSQL server: created with initdb, started and stopped with pg_ctl. It runs on its own, also after we are killed.
import { randomBytes, randomInt } from 'node:crypto';
import { readFileSync, statfsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { programName } from '../../../../generated/operations.ts';
import { OperatorFault, reasonOf } from '../../faults.ts';
import { ownerOf } from './data-dir.ts';
import { ifThere, run, runScript, type DatabaseFolder } from './folder.ts';

/** Long, because a start after a crash includes crash recovery. */
const startSeconds = 120;
const stopSeconds = 60;

const fileIn = ({ directory }: DatabaseFolder, name: string): string | undefined =>
  ifThere(() => readFileSync(join(directory, name), 'utf8'));

export const hasCluster = (folder: DatabaseFolder): boolean =>
  fileIn(folder, 'data/PG_VERSION') !== undefined;

/** The process that a running PostgreSQL recorded. After a crash it may be gone, or be another program. */
export function recordedPid(folder: DatabaseFolder): number | undefined {
  const pid = Number.parseInt(fileIn(folder, 'data/postmaster.pid') ?? '', 10);
  return Number.isNaN(pid) ? undefined : pid;
}

/**
 * Whether the recorded process is a PostgreSQL of the user that owns its folder: after a crash its ID may be that of another
 * program. A zombie counts as ended: in a container it may never be reaped.
 */
export async function isRunning(folder: DatabaseFolder): Promise<boolean> {
  const pid = recordedPid(folder);
  if (pid === undefined) return false;
  const { uid } = ownerOf(folder.directory);
  if (process.platform === 'linux')
    return (
      ifThere(() => statSync(`/proc/${pid}`))?.uid === uid &&
      /^\d+ \(postgres\) [^ZX]/.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))
    );
  const { stdout } = await run('ps', ['-p', String(pid), '-o', 'uid=,comm=']).catch(() => ({ stdout: '' }));
  const [, owner, command = ''] = /^\s*(\d+)\s+(.*\S)/.exec(stdout) ?? [];
  return owner === String(uid) && basename(command) === 'postgres';
}

/**
 * Creates the cluster in a draft folder, which is renamed when it is complete: `mv` refuses to replace a folder that is not
 * empty. Of several processes at once one succeeds, and the others use its cluster; all of them have the same password.
 */
export async function createCluster(
  folder: DatabaseFolder,
  binaries: string,
  password: string,
  settings: readonly string[],
): Promise<void> {
  // The builtin locale: an upgrade of the operating system could change its locales and so break the indexes.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const sync = settings.includes('fsync=off') ? ['--no-sync'] : [];
  const options = [`--username=${database}`, '--auth=scram-sha-256', ...locale, ...sync, '--no-instructions'];
  const draft = `new-cluster-${randomBytes(6).toString('hex')}`;
  const script = `
    draft=$1; initdb=$2; shift 2
    trap 'rm -rf "$draft"' EXIT
    mkdir "$draft" && cat >"$draft/password" &&
      "$initdb" -D "$draft/data" --pwfile="$draft/password" "$@" && mv "$draft/data" ./`;
  try {
    await runScript(folder, script, [draft, join(binaries, 'initdb'), ...options], password);
  } catch (error) {
    if (hasCluster(folder)) return;
    // As in OpenShift, or with `docker run --user`.
    const [, unnamed] = /could not look up effective user ID (\d+)/.exec(reasonOf(error)) ?? [];
    if (unnamed !== undefined)
      throw new OperatorFault(
        `The embedded PostgreSQL could not be created: user ${unnamed} has no entry in /etc/passwd. Add one, or set DATABASE_URL.`,
        { cause: error },
      );
    throw new OperatorFault(`The embedded PostgreSQL could not be created: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

const settingsOf = ({ host, port }: DatabaseAddress, more: readonly string[]): string[] => [
  'fsync=on',
  ...more,
  ...(host === '127.0.0.1'
    ? [`listen_addresses=${host}`, `port=${port}`, 'unix_socket_directories=']
    : ['listen_addresses=', `port=${port}`, `unix_socket_directories=${host}`]),
  'unix_socket_permissions=0700',
  'max_connections=200',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_checkpoints=off',
  // Errors quote values that callers sent, even card numbers, so they must not be logged.
  'log_min_messages=log',
  'log_min_error_statement=panic',
];

/**
 * Starts pg_ctl. If the recorded process ($1) is not PostgreSQL, its ID is replaced by ours, the ID of pg_ctl: PostgreSQL
 * takes a file with the ID of its parent for a stale one, and still makes sure that no process of the former server is left.
 */
const startScript = `
mv -f postgres.log postgres.log.previous 2>/dev/null
if [ -n "$1" ] && [ "$(head -n 1 data/postmaster.pid)" = "$1" ]; then
  rm -f .s.PGSQL.*
  sed "1s/.*/$$/" data/postmaster.pid >new-pid.$$ && mv -f new-pid.$$ data/postmaster.pid
fi
shift
exec "$@"`;

/** PostgreSQL cannot write that to its log then. */
const noSpace = 'the disk is full. Free space there, or choose another DATA_DIR';

/** Starts PostgreSQL and waits until it is ready. Of several processes at once one succeeds. Returns why a retry can succeed. */
export async function start(
  folder: DatabaseFolder,
  binaries: string,
  address: DatabaseAddress,
  settings: readonly string[],
): Promise<'port taken' | 'no sockets' | 'running' | undefined> {
  const pid = recordedPid(folder);
  const stale = (await isRunning(folder)) ? '' : String(pid ?? '');
  const options = settingsOf(address, settings).map((text) => `-c '${text.replaceAll("'", `'\\''`)}'`);
  // Paths are relative, because pg_ctl hands them to a shell.
  const args = ['-w', '-s', '-t', String(startSeconds), '-D', 'data', '-l', 'postgres.log'];
  const command = [join(binaries, 'pg_ctl'), 'start', ...args, '-o', options.join(' ')];
  try {
    await runScript(folder, startScript, [stale, ...command]);
    return undefined;
  } catch (error) {
    const log = fileIn(folder, 'postgres.log') ?? '';
    // Some file systems have none.
    if (/could not create any Unix-domain sockets/.test(log)) return 'no sockets';
    if (/could not bind|could not create any TCP\/IP sockets/.test(log)) return 'port taken';
    // Of another process that starts at the same time, which may also have moved our log away; or what a killed one left.
    if ((await isRunning(folder)) || /shared memory block .* still in use/.test(log)) return 'running';
    const [, said] = /(?:FATAL|PANIC): +(.*)/.exec(log) ?? [];
    const isFull = said?.includes('No space left on device') ?? statfsSync(folder.directory).bavail === 0;
    const reason = isFull ? noSpace : (said ?? reasonOf(error));
    throw new OperatorFault(
      `The embedded PostgreSQL did not start: ${reason} (its log: ${folder.directory}/postgres.log)`,
      { cause: error },
    );
  }
}

/** Stops PostgreSQL, which disconnects its clients. Only after it has answered: pg_ctl signals the recorded process. */
export async function stop(folder: DatabaseFolder, binaries: string): Promise<void> {
  const args = ['stop', '-w', '-s', '-m', 'fast', '-t', String(stopSeconds), '-D', 'data'];
  try {
    await runScript(folder, 'exec "$@"', [join(binaries, 'pg_ctl'), ...args]);
  } catch (error) {
    // Another process may have stopped it at the same time.
    if (await isRunning(folder))
      throw new OperatorFault(`The embedded PostgreSQL (process ${recordedPid(folder)}) does not stop.`, {
        cause: error,
      });
  }
}

// How PostgreSQL is reached: by a socket in its own folder, which only its owner and root can open. A port on the loopback
// address is the fallback. Both stay the same between starts, so that connection pools of other processes can reconnect.

interface DatabaseAddress {
  /** 127.0.0.1, or the folder of the socket. */
  host: string;
  port: number;
}

/** Also of the user. Statements name it without quotes. */
export const database = programName.replaceAll('-', '_');

/** Part of the name of a socket; clients use this number unless they are told another. */
const socketPort = 5432;

/** The limit is 103 bytes on macOS and 107 on Linux. */
const longestSocketPath = 100;

/** Undefined where a socket cannot be used. A comma or quote would make a list of several folders of it. */
export function socketAddress(directory: string): DatabaseAddress | undefined {
  const path = join(directory, `.s.PGSQL.${socketPort}`);
  if (process.platform === 'win32' || Buffer.byteLength(path) > longestSocketPath) return undefined;
  return /^[^,"\p{Cc}]*[^,"\p{Cc}\s]$/u.test(directory) ? { host: directory, port: socketPort } : undefined;
}

/** Below the ephemeral range: an outgoing connection could take such a port while the database is down. */
export const randomPort = (): DatabaseAddress => ({ host: '127.0.0.1', port: randomInt(20_000, 30_000) });

/** The address of the last start, which PostgreSQL recorded with its other options. */
export function lastAddress(folder: DatabaseFolder): DatabaseAddress | undefined {
  const options = fileIn(folder, 'data/postmaster.opts') ?? '';
  const [, host, port] = /"listen_addresses=(\S*)".* "port=(\d+)"/.exec(options) ?? [];
  if (host === undefined) return undefined;
  return { host: host === '' ? folder.directory : host, port: Number(port) };
}

export function lastPort(folder: DatabaseFolder): DatabaseAddress | undefined {
  const last = lastAddress(folder);
  return last?.host === '127.0.0.1' ? last : undefined;
}

/** For psql, `pg` and DATABASE_URL. The port is named, because PGPORT in the environment would replace it otherwise. */
export function urlOf({ host, port }: DatabaseAddress, password: string, name: string = database): string {
  const credentials = `${database}:${password}`;
  if (!host.startsWith('/')) return `postgres://${credentials}@${host}:${port}/${name}`;
  const folder = encodeURIComponent(host).replaceAll('%2F', '/');
  return `postgres://${credentials}@localhost/${name}?host=${folder}&port=${port}`;
}
