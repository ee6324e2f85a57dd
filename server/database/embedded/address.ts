// How PostgreSQL is reached: by a socket in its own folder, which only its owner and root can open. A port on the loopback
// address is the fallback. Both stay the same between starts, so that connection pools of other processes can reconnect.
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ifThere, type Place } from './place.ts';

export interface DatabaseAddress {
  /** 127.0.0.1, or the folder of the socket. */
  host: string;
  port: number;
}

export const user = 'payments';
export const database = 'payments';

/** Part of the name of a socket; clients use this number unless they are told another. */
const socketPort = 5432;

/** The limit is 103 bytes on macOS and 107 on Linux. */
const longestSocketPath = 100;

/** Undefined where a socket cannot be used. A comma or quote would make a list of several folders of it. */
export function socketAddress({ directory }: Pick<Place, 'directory'>): DatabaseAddress | undefined {
  const path = join(directory, `.s.PGSQL.${socketPort}`);
  if (process.platform === 'win32' || Buffer.byteLength(path) > longestSocketPath) return undefined;
  return /^[^,"\p{Cc}]*[^,"\p{Cc}\s]$/u.test(directory) ? { host: directory, port: socketPort } : undefined;
}

/** Below the ephemeral range: an outgoing connection could take such a port while the database is down. */
export const randomPort = (): DatabaseAddress => ({ host: '127.0.0.1', port: randomInt(20_000, 30_000) });

/** The address of the last start, which PostgreSQL recorded with its other options. */
export function lastAddress(place: Place): DatabaseAddress | undefined {
  const options = ifThere(() => readFileSync(join(place.directory, 'data', 'postmaster.opts'), 'utf8'));
  const [, host, port] = /"listen_addresses=(\S*)".* "port=(\d+)"/.exec(options ?? '') ?? [];
  if (host === undefined) return undefined;
  return { host: host === '' ? place.directory : host, port: Number(port) };
}

/** For psql, `pg` and DATABASE_URL. The port is named, because PGPORT in the environment would replace it otherwise. */
export function urlOf({ host, port }: DatabaseAddress, password: string, name: string = database): string {
  const credentials = `${user}:${password}`;
  if (!host.startsWith('/')) return `postgres://${credentials}@${host}:${port}/${name}`;
  const folder = encodeURIComponent(host).replaceAll('%2F', '/');
  return `postgres://${credentials}@localhost/${name}?host=${folder}&port=${port}`;
}
