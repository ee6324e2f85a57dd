/** PgBouncer in transaction mode, before the PostgreSQL server of the tests. */
import { chownSync, existsSync } from 'node:fs';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createConnection, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './data-dir.ts';
import { startCommand } from './processes.ts';

const program = '/usr/sbin/pgbouncer';

/** Debian's package. `.ci/run` installs it. */
export const hasPgBouncer = existsSync(program);

export interface PgBouncer extends AsyncDisposable {
  /** The same database, through PgBouncer. */
  urlOf: (databaseUrl: string) => string;
  log: () => string;
}

export async function startPgBouncer(serverUrl: string, poolSize: number): Promise<PgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'payments-pgbouncer-'));
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, settings(serverUrl, port, poolSize), { mode: 0o600 });
  const child = startCommand(...commandFor(folder, file));
  await eventually(async () => {
    if (child.process.exitCode !== null) throw new Error(`PgBouncer ended: ${child.output()}`);
    return isListening(port);
  }, 'PgBouncer listens');
  return {
    urlOf: (databaseUrl) => `postgres://anybody@127.0.0.1:${port}${new URL(databaseUrl).pathname}`,
    log: child.output,
    async [Symbol.asyncDispose]() {
      child.process.kill('SIGTERM');
      await child.ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function settings(serverUrl: string, port: number, poolSize: number): string {
  const { hostname, port: serverPort, username, password, searchParams } = new URL(serverUrl);
  const host = searchParams.get('host') ?? hostname;
  const login = `user=${decodeURIComponent(username)} password='${decodeURIComponent(password)}'`;
  return `[databases]
* = host=${host} port=${searchParams.get('port') ?? (serverPort || '5432')} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 500
`;
}

/** It refuses to run as root. */
function commandFor(folder: string, file: string): [command: string, args: string[]] {
  if (process.getuid?.() !== 0) return [program, [file]];
  const nobody = 65_534;
  for (const path of [folder, file]) chownSync(path, nobody, nobody);
  const user = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];
  return ['setpriv', [...user, program, file]];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    const end = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('connect', end(true));
    socket.on('error', end(false));
  });
