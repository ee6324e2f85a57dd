/** PgBouncer, before the PostgreSQL server of the tests. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needs, programs } from '../../scripts/nightly/needs.ts';
import { eventually } from './data-dir.ts';
import { startAsOrdinaryUser } from './ordinary-user.ts';
import { freePort, isListening } from './ports.ts';

/** Debian's package. `.ci/run` installs it. */
export const hasPgBouncer = needs.pgbouncer.isThere();

export interface PgBouncer extends AsyncDisposable {
  /** The same database, through PgBouncer. */
  urlOf: (databaseUrl: string) => string;
  log: () => string;
}

/** `more` are further lines of its settings. */
export async function startPgBouncer(
  serverUrl: string,
  poolSize: number,
  mode: 'transaction' | 'session' = 'transaction',
  more = '',
): Promise<PgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'payments-pgbouncer-'));
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, `${settings(serverUrl, port, poolSize, mode)}${more}\n`, { mode: 0o600 });
  const child = startAsOrdinaryUser(folder, programs.pgbouncer, [file]);
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

function settings(serverUrl: string, port: number, poolSize: number, mode: string): string {
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
pool_mode = ${mode}
default_pool_size = ${poolSize}
max_client_conn = 500
`;
}
